// Tensors that do not fit, in a pipeline.
#include <limits>

#include "tests/errors/catalogue.h"

namespace penstock::errors {

struct Pair {
  std::vector<int> left, right;
};

}  // namespace penstock::errors

template <> struct penstock::Fields<penstock::errors::Pair> {
  static constexpr auto value = std::tuple{&errors::Pair::left, &errors::Pair::right};
};

namespace penstock::errors {
namespace {

Tensor growing(std::int64_t rows) { return Tensor(DType::f32, {rows, 3}); }
Tensor changing(std::int64_t number) { return Tensor(number == 1 ? DType::u8 : DType::f32, {2}); }

StructBatch<Pair> unequal(std::int64_t) { return {{{{1, 2}, {3}}, {{4}}}, 2}; }

}  // namespace

Cases tensor_cases() {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  const auto use = [](auto&& wrong) { return in_map([wrong] { (void)wrong(); }); };
  return {
      {"batch of tensors with different shapes", [] { read(range(3).map(growing).batch(2)); }},
      {"batch of tensors with different types", [] { read(range(3).map(changing).batch(2)); }},
      {"unbatch of a scalar", [] { read(range(3).map([](std::int64_t x) { return Tensor::scalar(x); }).unbatch()); }},
      {"unbatch of columns with different lengths", [] { read(range(3).map(unequal).unbatch()); }},
      {"a stack of no tensors", use([] { return stack({}); })},
      {"a tensor with a negative dimension", use([] {
         return Tensor(DType::u8, {3, -1});
       })},
      {"a tensor with more elements than can be counted", use([] {
         return Tensor(DType::u8, {largest, 2});
       })},
      {"a tensor larger than any memory", use([] { return Tensor(DType::f64, {largest}); })},
      {"a tensor over no memory", use([] { return Tensor(DType::u8, {2}, nullptr); })},
      {"rows of a scalar", use([] { return Tensor::scalar(3).row(0); })},
      {"a row that is not there", use([] {
         return Tensor(DType::u8, {2, 2}).row(2);
       })},
      {"values of another type", use([] { return Tensor(DType::u8, {2}).values<float>().size(); })},
  };
}

}  // namespace penstock::errors
