#include "tests/fuzz/pipelines.h"

#include <optional>
#include <stdexcept>

namespace penstock::fuzz {
namespace {

using Values = std::vector<std::int64_t>;

Values single(std::int64_t value) { return {value}; }
Values some(std::int64_t value) { return Values(static_cast<std::size_t>(value % 3), value); }
std::int64_t not_three(std::int64_t value) {
  if (value == 3) throw std::runtime_error("planted");
  return value;
}

Dataset<std::int64_t> generated() {
  return from_generator([i = std::int64_t{0}]() mutable { return i < 7 ? std::optional(i++) : std::nullopt; });
}

std::vector<Pipeline> make_pipelines() {
  return {
      {range(9).map(single)},
      {range(9).shuffle(9, {.seed = 2}).map(not_three).batch(2)},
      {range(9).shuffle(3, {.seed = 2}).shard(2, 1).map(single)},
      {range(8).map(some).unbatch().map(single)},
      {range(8).map(some).unbatch().batch(3)},
      {range(4).map(not_three).map(single).repeat(3).repeat(2)},
      {range(3).map(single).repeat(), true},
      {range(5).batch(2).repeat(), true},
      {generated().map(not_three).map(single)},
      {generated().map(not_three).shuffle(3, {.seed = 2}).batch(2)},
      {range(9).map(not_three).ignore_errors().map(single).take(5)},
      {range(9).map(single).skip(2).repeat(2)},
  };
}

}  // namespace

const std::vector<Pipeline>& pipelines() {
  static const std::vector<Pipeline> made = make_pipelines();
  return made;
}

}  // namespace penstock::fuzz
