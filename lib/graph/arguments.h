// The one form in which ops reject an argument: "batch_size must be at least 1, but is 0".
#pragma once

#include <penstock/tunable.h>

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace penstock::graph {

// Throws Error(invalid_argument): "<argument> must be <allowed>, but is <value>".
[[noreturn]] void reject(const std::string& argument, const std::string& allowed, std::int64_t value);

// Rejects a fixed number or a lower bound below `least`, and an upper bound below the lower one.
void check_tunable(const std::string& argument, const Tunable& value, std::int64_t least);

// "auto", "8" or "2..16".
std::string to_string(const Tunable& value);

}  // namespace penstock::graph

#pragma GCC visibility pop
