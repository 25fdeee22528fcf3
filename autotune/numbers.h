// Counters as numbers to reckon with.
#pragma once

#include <cstdint>

namespace penstock::autotune {

inline double as_double(std::int64_t value) { return static_cast<double>(value); }
inline double seconds(std::int64_t ns) { return as_double(ns) / 1e9; }

}  // namespace penstock::autotune
