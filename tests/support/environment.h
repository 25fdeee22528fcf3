// What a series of random trials (graphs, pictures) is told by the environment.
//
//   PENSTOCK_SEED=n        only the trial n, the one that a failure names
//   PENSTOCK_FULL=1        ten times as many
//   PENSTOCK_SMALL=1       a tenth, for sanitizers
//   PENSTOCK_TRACE=1       tells each seed before it is run, for crashes
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "tests/support/under_sanitizer.h"

namespace penstock::test {

inline std::optional<std::uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::stoull(text);
}

inline bool is_on(const char* name) { return number_from_environment(name).value_or(0) != 0; }

// The smallest tier has the first tenth of the trials of the usual one: it is for what a sanitizer sees, and too small
// to say how often something is met.
inline bool is_smallest() { return is_on("PENSTOCK_SMALL"); }

// As many as the tier asks for, where CI takes `usual`.
inline std::int64_t how_many(std::int64_t usual) {
  if (is_smallest()) return usual / 10;
  return is_on("PENSTOCK_FULL") ? 10 * usual : usual;
}

// The same of what one thread runs in virtual time. A sanitizer makes that slow, and sees little in it that runs on
// threads do not show.
inline std::int64_t how_many_pumped(std::int64_t usual) { return how_many(usual) / (UNDER_SANITIZER ? 4 : 1); }

}  // namespace penstock::test
