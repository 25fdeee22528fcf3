// What the functions in the pipelines compute: the same code for the model and for the library's
// run, since it is not what is being tested.
#include <array>
#include <cstddef>
#include <utility>

#include "tests/model/list_model.h"

namespace model {

const char* name_of(Kind kind) {
  static constexpr std::array<const char*, kKinds> names{
#define PENSTOCK_OP(name) #name,
#include "tests/ops/names.inc"
#undef PENSTOCK_OP
  };
  return names[static_cast<std::size_t>(kind)];
}

Value source_value(const Op& op, std::int64_t i) {
  const std::int64_t x = op.first + i * op.step;
  if (!op.lists || i % 4 != 1) return number(x);
  std::vector<Value> rows;
  for (std::int64_t j = 0; j < i % 3; ++j) rows.push_back(number(x + j));
  return list(std::move(rows));
}

std::int64_t stamp_number(const Origin& origin) {
  return std::int64_t{origin.epoch} * 100'003 + std::int64_t{origin.pass} * 1'009 + origin.ordinal * 13;
}

std::vector<Value> own_answer(const Value& value) {
  switch (floor_mod(key(value), 5)) {
    case 0: return {};
    case 1: return {value, affine(value, 1, 1), affine(value, 1, 2)};
    case 2: return {value};
    default: return {affine(value, 3, 1)};
  }
}

std::vector<Value> async_answer(const Value& value) {
  switch (floor_mod(key(value), 7)) {
    case 0: return {};
    case 1: return {value, affine(value, 2, 5)};
    default: return {affine(value, 2, 1)};
  }
}

Value sum_of(const std::vector<Value>& values) {
  std::int64_t sum = 0;
  for (const Value& value : values) sum += key(value);
  return number(floor_mod(sum, 1'000'003));
}

}  // namespace model
