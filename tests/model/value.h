// Values for testing pipelines, and what the functions in those pipelines do to them. No library header here.
#pragma once

#include <cstdint>
#include <vector>

namespace model {

// A number, or a list of values as batch() makes it.
struct Value {
  std::int64_t number = 0;
  bool is_list = false;
  std::vector<Value> rows;

  friend bool operator==(const Value&, const Value&) = default;
};

inline Value number(std::int64_t x) { return {x, false, {}}; }
inline Value list(std::vector<Value> rows) { return {0, true, std::move(rows)}; }

// Never negative for m > 0.
inline std::int64_t floor_mod(std::int64_t x, std::int64_t m) { return (x % m + m) % m; }

// One number that stands for the whole value: itself, or a hash of the rows.
inline std::int64_t key(const Value& value) {
  if (!value.is_list) return value.number;
  std::int64_t hash = 17;
  for (const Value& row : value.rows) hash = floor_mod(hash * 31 + key(row), 1'000'003);
  return hash;
}

// The remainder class that a function fails on, or keeps: key mod `mod` == `rem`; none if mod is 0.
struct Modulus {
  std::int64_t mod = 0;
  std::int64_t rem = 0;
  bool holds(const Value& value) const { return mod > 0 && floor_mod(key(value), mod) == rem; }
};

// mul * x + add for every number inside, kept small.
inline Value affine(Value value, std::int64_t mul, std::int64_t add) {
  value.number = value.is_list ? 0 : floor_mod(mul * value.number + add, 1'000'003);
  for (Value& row : value.rows) row = affine(std::move(row), mul, add);
  return value;
}

}  // namespace model
