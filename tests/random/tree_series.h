// One random tree after the other, watched. The environment's say: environment.h.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

#include "tests/random/drawn_tree.h"
#include "tests/support/environment.h"
#include "tests/support/under_sanitizer.h"
#include "tests/support/watchdog.h"

namespace trees {

using penstock::test::how_many;
using penstock::test::how_many_pumped;
using penstock::test::is_smallest;
using penstock::test::number_from_environment;
using penstock::test::Watchdog;

inline void expect(const Tree& tree, std::size_t index, const std::string& got, const std::string& where) {
  const std::string expected = index < tree.items.size() ? text_of(tree.items[index]) : "end";
  if (got != expected)
    throw std::runtime_error(where + ", number " + std::to_string(index) + ": " + got + " instead of " + expected);
}

inline std::string next_of(ps::Run<std::int64_t>& run) {
  try {
    const auto value = run.next();
    return value ? std::to_string(*value) : "end";
  } catch (const ps::ElementError&) {
    return "x";
  }
}

using Check = std::function<void(const Tree& tree, std::uint64_t seed)>;

inline void check_trees(std::int64_t count, const Check& check, Drawer::Coverage& coverage, Drawn drawn = {}) {
  Watchdog watchdog(std::chrono::seconds(UNDER_SANITIZER ? 300 : 60));  // a tree may give 36,000 elements one by one
  const auto only = number_from_environment("PENSTOCK_SEED");
  for (std::uint64_t seed = only.value_or(0); !::testing::Test::HasFailure(); ++seed) {
    if (only ? seed != *only : seed == static_cast<std::uint64_t>(count)) break;
    const Tree tree = Drawer(seed, coverage, drawn).draw();
    const std::string name = "PENSTOCK_SEED=" + std::to_string(seed) + ": " + tree.text;
    if (number_from_environment("PENSTOCK_TRACE")) std::cerr << name << std::endl;
    watchdog.watch(name);
    try {
      check(tree, seed);
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what() << '\n' << name;
    }
  }
}

}  // namespace trees
