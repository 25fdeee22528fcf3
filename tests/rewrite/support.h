// Graphs as tables, and what runs of a dataset give with rewrites and without.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace penstock::testing {

// describe() without call sites and padding, a line each: "2 map in the calls of 1".
inline std::string without_sites(const std::string& table) {
  static const std::regex site(" +[a-z_]+\\.(cc|h):[0-9]+$"), padding(" +");
  std::istringstream lines(table);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(std::regex_replace(line, site, ""), padding, " ");
    text += line.substr(line.find_first_not_of(' ')) + "\n";
  }
  return text;
}

template <class T> std::string written(const Dataset<T>& dataset) { return without_sites(describe(dataset)); }
template <class T> std::string as_it_is_run(const Dataset<T>& dataset, const Rewrites& which = {}) {
  return without_sites(describe(dataset, as_run, which));
}

// Elements in their order, by to_text, and errors in their places with all that they say; then the counts.
template <class T, class ToText>
std::vector<std::string> given(const Dataset<T>& dataset, RunOptions options, ToText to_text) {
  std::vector<std::string> all;
  auto run = dataset.start(options);
  for (;;) {
    try {
      auto value = run.next();
      if (!value) break;
      all.push_back(to_text(*value));
    } catch (const ElementError& error) {
      all.push_back(error.what());
    }
  }
  all.push_back(std::to_string(run.stats().delivered) + " and " + std::to_string(run.stats().errors));
  return all;
}

template <class T> std::vector<std::string> given(const Dataset<T>& dataset, RunOptions options = {}) {
  return given(dataset, options, [](const T& value) { return std::to_string(value); });
}

// With a random number of the element's own, and of the op's.
inline constexpr auto stamped = [](std::int64_t x, Context& context) noexcept {
  return x + static_cast<std::int64_t>(context.rng()() % 1000);
};

// The same with these rewrites as without any, on threads and serially.
template <class T> bool is_the_same(const Dataset<T>& dataset, const Rewrites& which = {}) {
  const auto expected = given(dataset, {.serial = true, .rewrites = no_rewrites()});
  return given(dataset, {.serial = true, .rewrites = which}) == expected &&
         given(dataset, {.rewrites = which}) == expected && given(dataset, {.rewrites = no_rewrites()}) == expected;
}

}  // namespace penstock::testing
