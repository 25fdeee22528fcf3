#include <penstock/padded_batch.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/random.h"

namespace penstock {
namespace {

struct Sentence {
  std::vector<std::int32_t> tokens;
  std::int32_t label = 0;
  std::vector<std::string> words;
  Tensor picture;
};

}  // namespace

template <> struct Fields<Sentence> {
  static constexpr auto value = std::tuple{&Sentence::tokens, &Sentence::label, &Sentence::words, &Sentence::picture};
};

namespace {

using test::Random;
using ::testing::ElementsAre;

Tensor counting_up(const Shape& shape, std::int64_t first) {
  Tensor tensor(DType::i64, shape);
  const auto values = tensor.values<std::int64_t>();
  std::iota(values.begin(), values.end(), first);
  return tensor;
}

template <class T> PaddedBatch<T> padded(const std::vector<T>& rows, const Padding& padding = {}) {
  typename PaddedCollate<T>::Builder builder(rows.size(), padding);
  for (const T& row : rows) {
    builder.check(row);
    builder.add(row);
  }
  return builder.finish();
}

template <class V> std::vector<V> numbers_in(const Tensor& tensor) {
  const auto values = tensor.values<V>();
  return {values.begin(), values.end()};
}

// ------------------------------------------------------------------------------------------------ tensors

// Where a place of a tensor is in memory; none if the tensor is smaller there.
std::optional<std::size_t> place_in(const Shape& shape, const std::vector<std::int64_t>& at) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d] >= shape[d]) return std::nullopt;
    place = place * shape[d] + at[d];
  }
  return static_cast<std::size_t>(place);
}

// The place behind, in the order of memory.
bool go_on(const Shape& shape, std::vector<std::int64_t>& at) {
  for (std::size_t d = at.size(); d > 0; --d) {
    if (++at[d - 1] < shape[d - 1]) return true;
    at[d - 1] = 0;
  }
  return false;
}

void expect_padded(const Tensor& row, const Tensor& filled, std::int64_t fill) {
  std::vector<std::int64_t> at(filled.rank(), 0);
  const auto before = row.values<std::int64_t>(), after = filled.values<std::int64_t>();
  if (filled.size() == 0) return;
  do {
    const auto place = place_in(row.shape(), at);
    EXPECT_EQ(after[*place_in(filled.shape(), at)], place ? before[*place] : fill);
  } while (go_on(filled.shape(), at));
}

Shape draw_shape(Random& random, std::size_t rank) {
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(random.between(0, 4));
  return shape;
}

TEST(PaddedBatch, HasEachValueInItsPlaceAndElsewhereThePadding) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const auto rank = static_cast<std::size_t>(random.between(0, 4));
    std::vector<Tensor> rows;
    Shape longest = Shape(std::vector<std::int64_t>(rank, 0));
    for (std::int64_t i = random.between(1, 5); i > 0; --i) {
      rows.push_back(counting_up(draw_shape(random, rank), 100 * i));
      for (std::size_t d = 0; d < rank; ++d) longest[d] = std::max(longest[d], rows.back().shape()[d]);
    }
    const std::int64_t fill = random.one_in(2) ? 0 : -7;
    const Tensor batch = padded(rows, {.value = fill});
    longest.insert(longest.begin(), std::ssize(rows));
    ASSERT_EQ(batch.shape(), longest);
    for (std::size_t i = 0; i < rows.size(); ++i) expect_padded(rows[i], batch.row(static_cast<std::int64_t>(i)), fill);
  }
}

// Copied past the caches.
TEST(PaddedBatch, OfLargeRowsIsTheSame) {
  const std::vector<Tensor> rows{counting_up({900, 700}, 0), counting_up({900, 650}, 5), counting_up({899, 700}, 9)};
  const Tensor batch = padded(rows, {.value = -1});
  for (std::size_t i = 0; i < rows.size(); ++i) expect_padded(rows[i], batch.row(static_cast<std::int64_t>(i)), -1);
}

TEST(PaddedBatch, HasSizesThatAreGiven) {
  EXPECT_EQ(padded<Tensor>({counting_up({2, 1}, 0), counting_up({1, 2}, 0)}, {.shape = {3, LONGEST}}).shape(),
            (Shape{2, 3, 2}));
  EXPECT_EQ(padded<Tensor>({counting_up({0}, 0)}, {.shape = {0}}).shape(), (Shape{1, 0}));
}

TEST(PaddedBatch, RefusesWhatIsLargerThanASizeThatIsGiven) {
  const Padding padding{.shape = {LONGEST, 3}, .field = "boxes"};
  const PaddedCollate<Tensor>::Builder builder(2, padding);
  EXPECT_NO_THROW(builder.check(counting_up({7, 3}, 0)));
  EXPECT_ERROR(builder.check(counting_up({7, 4}, 0)), ErrorCode::data_loss,
               "Attempted to pad to a smaller size than the input element. Dimension 1 of field boxes has size 4, but "
               "padded_shapes gives it 3. Give it more there, or LONGEST for the longest of each batch, or cut the "
               "element by a map before");
}

TEST(PaddedBatch, RefusesAnotherRankAndAnotherType) {
  const Padding nothing, matrix{.shape = {2, 2}};
  PaddedCollate<Tensor>::Builder builder(2, nothing);
  builder.add(counting_up({7}, 0));
  EXPECT_ERROR(builder.check(counting_up({7, 4}, 0)), ErrorCode::invalid_argument,
               "The element has shape [7, 4], of rank 2, but rank 1 is expected");
  EXPECT_ERROR(builder.check(Tensor(DType::u8, {7})), ErrorCode::invalid_argument,
               "First element had type i64 and element 1 had type u8");
  EXPECT_ERROR((PaddedCollate<Tensor>::Builder(2, matrix).check(counting_up({7}, 0))), ErrorCode::invalid_argument,
               "The element has shape [7], of rank 1, but rank 2 is expected");
}

TEST(PaddedBatch, LetsGoOfRowsAsTheyAreCopied) {
  const Tensor row = counting_up({3}, 0);
  const std::weak_ptr<std::byte> memory = row.owner();
  const Padding nothing;
  PaddedCollate<Tensor>::Builder builder(1, nothing);
  builder.add(Tensor(row));
  EXPECT_EQ(memory.use_count(), 2);
  builder.finish();
  EXPECT_EQ(memory.use_count(), 1);
}

TEST(PaddedBatch, ThatNoMemoryHasRoomForIsAnError) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (const Shape& shape : {Shape{largest}, Shape{std::int64_t{1} << 59}}) {
    const Padding padding{.shape = shape};
    EXPECT_ERROR(padded<Tensor>({counting_up({1}, 0), counting_up({2}, 0)}, padding), ErrorCode::invalid_argument,
                 "has more than 2^6");
  }
}

// ------------------------------------------------------------------------------------------------ vectors and structs

TEST(PaddedBatch, OfVectorsOfNumbersIsATensor) {
  EXPECT_THAT(numbers_in<float>(padded<std::vector<float>>({{1}, {2, 3}}, {.value = 0.5})), ElementsAre(1, .5f, 2, 3));
  EXPECT_THAT(numbers_in<std::uint8_t>(padded<std::vector<bool>>({{true}, {true, false, true}})),
              ElementsAre(1, 0, 0, 1, 0, 1));
  const Tensor boxes = padded<std::vector<std::array<float, 2>>>({{}, {{1, 2}, {3, 4}}});
  EXPECT_EQ(boxes.shape(), (Shape{2, 2, 2}));
  EXPECT_THAT(numbers_in<float>(boxes), ElementsAre(0, 0, 0, 0, 1, 2, 3, 4));
}

TEST(PaddedBatch, OfOtherVectorsIsVectorsOfOneLength) {
  using Words = std::vector<std::string>;
  EXPECT_THAT(padded<Words>({{"a", "b"}, {}}), ElementsAre(ElementsAre("a", "b"), ElementsAre("", "")));
  EXPECT_THAT(padded<Words>({{"a"}}, {.shape = {2}, .value = "?"}), ElementsAre(ElementsAre("a", "?")));
  const Padding one{.shape = {1}};
  EXPECT_ERROR((PaddedCollate<Words>::Builder(1, one).check({"a", "b"})), ErrorCode::data_loss,
               "Dimension 0 has size 2");
}

TEST(PaddedBatch, OfOtherValuesIsWhatBatchMakesOfThem) {
  EXPECT_THAT(padded<std::int64_t>({3, 4}), ElementsAre(3, 4));
  EXPECT_THAT(padded<std::string>({"a", "bc"}), ElementsAre("a", "bc"));
}

Padding padding_of_sentences(const PaddedBatchOptions<Sentence>& options) {
  return detail::padding_of<Sentence>(options.padded_shapes, options.padding_values);
}

TEST(PaddedBatch, OfAStructHasAColumnForEachField) {
  const Padding padding = padding_of_sentences({.padded_shapes = {{&Sentence::tokens, {3}}},
                                                .padding_values = {{&Sentence::tokens, -1}, {&Sentence::words, "?"}}});
  const PaddedBatch<Sentence> batch = padded<Sentence>(
      {{{1, 2}, 7, {"a"}, counting_up({1, 2}, 5)}, {{3}, 8, {"b", "c"}, counting_up({2, 1}, 8)}}, padding);
  EXPECT_EQ(batch.size(), 2);
  EXPECT_THAT(numbers_in<std::int32_t>(batch.column<&Sentence::tokens>()), ElementsAre(1, 2, -1, 3, -1, -1));
  EXPECT_THAT(batch.column<&Sentence::label>(), ElementsAre(7, 8));
  EXPECT_THAT(batch.column<&Sentence::words>(), ElementsAre(ElementsAre("a", "?"), ElementsAre("b", "c")));
  EXPECT_THAT(numbers_in<std::int64_t>(batch.column<&Sentence::picture>()), ElementsAre(5, 6, 0, 0, 8, 0, 9, 0));
  EXPECT_TRUE(bytes_known<PaddedBatch<Sentence>>);
}

TEST(PaddedBatch, NamesTheFieldOfAnElementThatDoesNotFit) {
  const Padding padding = padding_of_sentences({.padded_shapes = {{&Sentence::tokens, {1}}}});
  EXPECT_ERROR((PaddedCollate<Sentence>::Builder(2, padding).check({{1, 2}, 7, {}, {}})), ErrorCode::data_loss,
               "Dimension 0 of field tokens has size 2, but padded_shapes gives it 1");
}

// ------------------------------------------------------------------------------------------------ what is told

TEST(Padding, IsTold) {
  EXPECT_EQ(to_string(Padding{}), "");
  EXPECT_EQ(to_string(Padding{.shape = {2, LONGEST}, .value = 0.5}), "padded_shapes=[2, -1], padding_values=0.5");
  EXPECT_EQ(to_string(padding_of_sentences({.padded_shapes = {{&Sentence::words, {4}}, {&Sentence::tokens, {3}}},
                                            .padding_values = {{&Sentence::words, "?"}}})),
            "padded_shapes of field tokens=[3], padded_shapes of field words=[4], padding_values of field words='?'");
}

TEST(Padding, IsRefusedWhereItMakesNoSense) {
  const auto refused = [](const PaddedBatchOptions<Sentence>& options, const char* why) {
    EXPECT_ERROR(padding_of_sentences(options), ErrorCode::invalid_argument, why);
  };
  refused({.padded_shapes = {{&Sentence::tokens, {-2}}}},
          "padded_shapes of field tokens must have sizes of at least 0, or LONGEST (-1), but is [-2]");
  refused({.padded_shapes = {{&Sentence::tokens, {1, 2}}}},
          "padded_shapes of field tokens must have rank 1, as what is padded has, but is [1, 2]");
  refused({.padded_shapes = {{&Sentence::words, {1, 2}}}}, "must have 1 size, that of the vector, but is [1, 2]");
  refused({.padded_shapes = {{&Sentence::words, {std::numeric_limits<std::int64_t>::max()}}}},
          "for no vector of this type is longer, but is [9223372036854775807]");
  refused({.padding_values = {{&Sentence::tokens, std::uint64_t{1} << 63}}},
          "is 9223372036854775808, which i32 cannot hold");
  refused({.padding_values = {{&Sentence::tokens, "x"}}},
          "padding_values of field tokens is 'x', which i32 cannot hold");
  refused({.padding_values = {{&Sentence::tokens, 0.5}}}, "is 0.5, which i32 cannot hold");
  refused({.padding_values = {{&Sentence::words, 1}}}, "is 1, but these vectors are filled with strings");
  refused({.padding_values = {{&Sentence::label, 1}}},
          "padding_values of field label is given, but only tensors and vectors are padded; leave it out");
  EXPECT_ERROR(detail::padding_of<std::int64_t>({1}, {}), ErrorCode::invalid_argument, "padded_shapes is given");
  EXPECT_ERROR((detail::padding_of<std::vector<Sentence>>({}, 0)), ErrorCode::invalid_argument, "leave it out");
}

// Of a tensor the type is known when it comes.
TEST(Padding, ThatATensorCannotHoldIsAnErrorOfTheElement) {
  const Padding large{.value = 300};
  EXPECT_ERROR((PaddedCollate<Tensor>::Builder(1, large).check(Tensor(DType::u8, {1}))), ErrorCode::invalid_argument,
               "padding_values is 300, which u8 cannot hold");
}

template <class V> V value_as(DType type, const PaddingValue& value) {
  V result{};
  std::memcpy(&result, value.bytes_as(type).value().data(), sizeof result);
  return result;
}

TEST(PaddingValue, IsHeldByTypesThatHaveIt) {
  constexpr std::int64_t large = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(value_as<std::int64_t>(DType::i64, large), large);
  EXPECT_EQ(value_as<std::int32_t>(DType::i32, -1.0), -1);
  EXPECT_EQ(value_as<float>(DType::f32, 0.1), 0.1f);
  EXPECT_EQ(value_as<double>(DType::f64, 3), 3.0);
  EXPECT_FALSE(PaddingValue(9.3e18).bytes_as(DType::i64));
  EXPECT_FALSE(PaddingValue(-1).bytes_as(DType::u8));
  EXPECT_FALSE(PaddingValue(std::nan("")).bytes_as(DType::i64));
  EXPECT_FALSE(PaddingValue("").bytes_as(DType::f32));
}

TEST(PaddingValue, IsNotTakenForInfinityWhereItIsBeyondTheLargestNumber) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    EXPECT_FALSE(PaddingValue(-1e39).bytes_as(type)) << to_string(type);
    EXPECT_TRUE(PaddingValue(-infinity).bytes_as(type)) << to_string(type);
    EXPECT_TRUE(PaddingValue(std::nan("")).bytes_as(type)) << to_string(type);
  }
  EXPECT_FALSE(PaddingValue(65505).bytes_as(DType::f16));
  EXPECT_FALSE(PaddingValue(0x1.FFp127).bytes_as(DType::bf16));
  EXPECT_EQ(value_as<float>(DType::f32, largest), largest);
  EXPECT_TRUE(std::isinf(value_as<float>(DType::f32, -infinity)));
}

TEST(PaddingValue, MayBeBeyondTheSignedNumbers) {
  const PaddingValue large = std::uint64_t{1} << 63;
  EXPECT_EQ(to_string(large), "9223372036854775808");
  EXPECT_FALSE(large.bytes_as(DType::i64));
  EXPECT_EQ(value_as<double>(DType::f64, large), 0x1p63);
  EXPECT_EQ(to_string(PaddingValue(true)), "1");
}

// Bits of IEEE 754's binary16, and of bfloat16.
TEST(PaddingValue, IsRoundedForSixteenBits) {
  const auto f16 = [](double value) { return value_as<std::uint16_t>(DType::f16, value); };
  EXPECT_EQ(f16(0), 0);
  EXPECT_EQ(f16(-0.0), 0x8000);
  EXPECT_EQ(f16(1), 0x3C00);
  EXPECT_EQ(f16(-2), 0xC000);
  EXPECT_EQ(f16(65504), 0x7BFF);
  EXPECT_EQ(f16(1 + std::ldexp(1, -11)), 0x3C00) << "to even";
  EXPECT_EQ(f16(1 + std::ldexp(3, -11)), 0x3C02) << "to even";
  EXPECT_EQ(f16(std::ldexp(1, -14)), 0x0400);
  EXPECT_EQ(f16(std::ldexp(1, -24)), 0x0001);
  EXPECT_EQ(f16(std::ldexp(1, -26)), 0);
  EXPECT_EQ(f16(-std::numeric_limits<double>::infinity()), 0xFC00);
  EXPECT_EQ(f16(std::nan("")), 0x7E00);
  const auto bf16 = [](double value) { return value_as<std::uint16_t>(DType::bf16, value); };
  EXPECT_EQ(bf16(1), 0x3F80);
  EXPECT_EQ(bf16(-1), 0xBF80);
  EXPECT_EQ(bf16(0x1.FEp127), 0x7F7F);
  EXPECT_EQ(bf16(std::numeric_limits<double>::infinity()), 0x7F80);
  EXPECT_EQ(bf16(1 + std::ldexp(1, -8)), 0x3F80) << "to even";
}

}  // namespace
}  // namespace penstock
