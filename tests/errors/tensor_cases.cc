// Tensors that do not fit, in a pipeline.
#include <limits>

#include "tests/errors/catalogue.h"

namespace penstock::errors {

struct Pair {
  std::vector<int> left, right;
  int unlisted = 0;
};

}  // namespace penstock::errors

template <> struct penstock::Fields<penstock::errors::Pair> {
  static constexpr auto value = std::tuple{&errors::Pair::left, &errors::Pair::right};
};

namespace penstock::errors {
namespace {

constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();

Tensor growing(std::int64_t rows) { return Tensor(DType::f32, {rows, 3}); }
Tensor changing(std::int64_t number) { return Tensor(number == 1 ? DType::u8 : DType::f32, {2}); }

Tensor of_rank(std::int64_t rank) {
  return Tensor(DType::f32, Shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), 2)));
}
Tensor widening(std::int64_t columns) { return Tensor(DType::f32, {2, columns}); }
Tensor longest(std::int64_t) { return Tensor(DType::f32, {kLargest, 0}); }
void apart(const Ragged<Tensor>& batch) { (void)Unbatch<Ragged<Tensor>>::apart(batch); }
Pair pair_of(std::int64_t length) { return {std::vector<int>(static_cast<std::size_t>(length)), {}}; }
std::int64_t length_of_left(const Pair& pair) { return std::ssize(pair.left); }
std::int64_t too_small(const Pair&) { return 1; }
BucketOptions<Pair> to_boundary() {
  return {.bucket_boundaries = {2}, .bucket_batch_sizes = {1, 1}, .pad_to_bucket_boundary = true};
}
bool is_not_even(std::int64_t value) { return value % 2 != 0; }

StructBatch<Pair> unequal(std::int64_t) { return {{{{1, 2}, {3}}, {{4}}}, 2}; }

Cases length_cases() {
  using Words = std::vector<std::string>;
  const auto words = from_vector(std::vector<Words>{{"a"}});
  const auto numbers = from_vector(std::vector<std::vector<Pair>>{{}});
  return {
      {"padding of a member that is not listed",
       [] {
         range(3).map(pair_of).padded_batch(2, {.padding_values = {{&Pair::unlisted, 1}}});
       }},
      {"padded vectors of strings with two sizes",
       [=] {
         words.padded_batch(2, {.padded_shapes = {1, 2}});
       }},
      {"padded vectors of strings with a size that no vector has",
       [=] { words.padded_batch(2, {.padded_shapes = {kLargest}}); }},
      {"padded vectors of strings with a number", [=] { words.padded_batch(2, {.padding_values = 1}); }},
      {"padded vectors of structs with a number", [=] { numbers.padded_batch(2, {.padding_values = 1}); }},
      {"an element that is too long for its size",
       [] {
         read(range(3).map(pair_of).padded_batch(2, {.padded_shapes = {{&Pair::left, {1}}}}));
       }},
      {"an element beyond the last bucket, where all are padded to a boundary",
       [] { read(range(3).map(pair_of).bucket_by_sequence_length(length_of_left, to_boundary())); }},
      {"an element that its bucket has no room for",
       [] { read(range(3).map(pair_of).bucket_by_sequence_length(too_small, to_boundary())); }},
      {"padded tensors with different types", [] { read(range(3).map(changing).padded_batch(2)); }},
      {"padded tensors with different ranks", [] { read(range(3).map(of_rank).padded_batch(2)); }},
      {"padded tensors that cannot hold the padding",
       [] { read(range(3).skip(1).map(changing).padded_batch(2, {.padding_values = 300})); }},
      {"padded tensors that are too large together",
       [] { read(range(2).map(of_rank).skip(1).padded_batch(2, {.padded_shapes = {kLargest}})); }},
      {"ragged tensors without a dimension", [] { read(range(3).map(of_rank).ragged_batch(2)); }},
      {"ragged tensors with different types", [] { read(range(3).map(changing).ragged_batch(2)); }},
      {"ragged tensors that differ in a later dimension", [] { read(range(3).map(widening).ragged_batch(2)); }},
      {"ragged tensors that are too long together", [] { read(range(2).map(longest).ragged_batch(2)); }},
      {"rows of a ragged batch with other row_splits", in_map([] {
         apart({Tensor(DType::u8, {3}), {0, 2}});
       })},
      {"rows of a ragged scalar", in_map([] {
         apart({Tensor::scalar(1), {0, 1}});
       })},
      {"a pass that ends before its asserted cardinality",
       [] { read(range(3).filter(is_not_even).assert_cardinality(2)); }},
      {"a pass that goes on behind its asserted cardinality",
       [] { read(range(3).filter(is_not_even).assert_cardinality(0)); }},
      {"assert_cardinality of an endless input", [] { counter().assert_cardinality(2); }},
  };
}

}  // namespace

Cases tensor_cases() {
  const auto use = [](auto&& wrong) { return in_map([wrong] { (void)wrong(); }); };
  Cases cases{
      {"batch of tensors with different shapes", [] { read(range(3).map(growing).batch(2)); }},
      {"batch of tensors with different types", [] { read(range(3).map(changing).batch(2)); }},
      {"unbatch of a scalar", [] { read(range(3).map([](std::int64_t x) { return Tensor::scalar(x); }).unbatch()); }},
      {"unbatch of columns with different lengths", [] { read(range(3).map(unequal).unbatch()); }},
      {"a stack of no tensors", use([] { return stack({}); })},
      {"a tensor with a negative dimension", use([] {
         return Tensor(DType::u8, {3, -1});
       })},
      {"a tensor with more elements than can be counted", use([] {
         return Tensor(DType::u8, {kLargest, 2});
       })},
      {"a tensor larger than any memory", use([] { return Tensor(DType::f64, {kLargest}); })},
      {"a tensor over no memory", use([] { return Tensor(DType::u8, {2}, nullptr); })},
      {"rows of a scalar", use([] { return Tensor::scalar(3).row(0); })},
      {"a row that is not there", use([] {
         return Tensor(DType::u8, {2, 2}).row(2);
       })},
      {"values of another type", use([] { return Tensor(DType::u8, {2}).values<float>().size(); })},
  };
  for (auto& one : length_cases()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace penstock::errors
