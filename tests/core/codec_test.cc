// Codecs: values as bytes, and back.
#include <gtest/gtest.h>
#include <penstock/codec.h>
#include <penstock/dataset.h>
#include <penstock/error.h>
#include <penstock/sources.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace codec_test {

enum class Colour : std::uint8_t { red, green };
struct Example {
  penstock::Tensor image;
  std::string name;
  std::vector<float> scores;
  Colour colour = Colour::red;
};
struct Word {
  std::string text;
  int count = 0;
  friend bool operator==(const Word&, const Word&) = default;
};
struct Unknown {
  int value = 0;
};

}  // namespace codec_test

template <> struct penstock::Fields<codec_test::Example> {
  using Example = codec_test::Example;
  static constexpr auto value = std::tuple{&Example::image, &Example::name, &Example::scores, &Example::colour};
};
template <> struct penstock::Codec<codec_test::Word> {
  static void write(const codec_test::Word& word, ByteWriter& to) {
    to.write(word.text);
    to.write(word.count);
  }
  static codec_test::Word read(ByteReader& from) {
    auto text = from.read<std::string>();
    return {std::move(text), from.read<int>()};
  }
};

namespace penstock {
namespace {

using namespace codec_test;
using Bytes = std::vector<std::byte>;

template <class T> Bytes bytes_for(const T& value) {
  Bytes bytes;
  ByteWriter(bytes).write(value);
  return bytes;
}
// And that no byte is left.
template <class T> T back(const Bytes& bytes) {
  ByteReader reader(bytes);
  T value = reader.read<T>();
  EXPECT_EQ(reader.rest(), 0U);
  return value;
}
template <class T> void expect_kept(const T& value) { EXPECT_EQ(back<T>(bytes_for(value)), value); }

Tensor counted(DType type, const Shape& shape) {
  Tensor tensor(type, shape);
  for (std::size_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = static_cast<std::byte>(i);
  return tensor;
}

TEST(Codec, GivesBackWhatItWasGiven) {
  expect_kept<std::int8_t>(-3);
  expect_kept(std::numeric_limits<std::uint64_t>::max());
  expect_kept(2.5);
  expect_kept(true);
  expect_kept(Colour::green);
  expect_kept(std::string("with\0a zero", 11));
  expect_kept(std::string());
  expect_kept(std::vector<std::string>{"a", "", "ccc"});
  expect_kept(std::vector<std::int32_t>{1, -2, 3});
  expect_kept(std::vector<bool>{true, false, true});
  expect_kept(std::vector<std::vector<double>>{{}, {1.5}, {2, 3}});
  expect_kept(std::array<std::string, 2>{"x", "y"});
  expect_kept(std::optional<std::string>());
  expect_kept(std::optional<std::string>("here"));
  expect_kept(std::pair<int, std::string>(7, "seven"));
  expect_kept(std::tuple<int, bool, std::string>(7, true, "seven"));
  expect_kept(Word{"word", 3});
  expect_kept(std::vector<Word>{{"a", 1}, {"b", 2}});
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 3, 4}, Shape{0, 7}})
    for (const DType type : {DType::u8, DType::f16, DType::i64, DType::f64}) expect_kept(counted(type, shape));
}

TEST(Codec, KeepsTheFieldsOfStructsAndTheirBatches) {
  const auto example = [](std::int64_t i) {
    return Example{
        counted(DType::u8, {2, 2}), "name" + std::to_string(i), {1.5F, static_cast<float>(i)}, Colour::green};
  };
  const Example found = back<Example>(bytes_for(example(4)));
  EXPECT_EQ(found.image, example(4).image);
  EXPECT_EQ(found.name, "name4");
  EXPECT_EQ(found.scores, (std::vector<float>{1.5F, 4.0F}));
  EXPECT_EQ(found.colour, Colour::green);
  for (auto&& batch : range(4).map(example).batch(2)) {
    const auto kept = back<Batch<Example>>(bytes_for(batch));
    EXPECT_EQ(kept.size(), 2);
    EXPECT_EQ(kept.columns(), batch.columns());
  }
  const Ragged<Tensor> ragged{counted(DType::i32, {5}), {0, 2, 5}};
  const auto kept = back<Ragged<Tensor>>(bytes_for(ragged));
  EXPECT_EQ(kept.values, ragged.values);
  EXPECT_EQ(kept.row_splits, ragged.row_splits);
}

TEST(Codec, IsKnownOfTheseTypesAlone) {
  EXPECT_TRUE((HasCodec<std::vector<std::tuple<Tensor, std::string>>>));
  EXPECT_TRUE((HasCodec<Batch<Example>>));
  EXPECT_FALSE(HasCodec<Unknown>);
  EXPECT_FALSE(HasCodec<std::vector<Unknown>>);
  EXPECT_FALSE(HasCodec<int*>);
  EXPECT_FALSE((HasCodec<std::map<int, int>>));
}

// Of such types as have all parts in them.
using All = std::tuple<std::string, std::vector<std::string>, Tensor, std::optional<std::vector<std::int16_t>>, bool>;

TEST(Codec, ReadsNothingBehindTheEnd) {
  const All value{"text", {"a", "bb"}, counted(DType::f32, {2, 3}), std::vector<std::int16_t>{1, 2}, true};
  const Bytes whole = bytes_for(value);
  EXPECT_EQ(back<All>(whole), value);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));  // ASan sees what is behind it
    ByteReader reader(cut);
    EXPECT_THROW(reader.read<All>(), Error) << size;
  }
}

// What is claimed of a length is looked at before there is memory for it.
TEST(Codec, BearsAnyBytes) {
  const Bytes whole =
      bytes_for(All{"text", {"a", "bb"}, counted(DType::f32, {2, 3}), std::vector<std::int16_t>{1, 2}, true});
  test::Random random(5);
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = whole;
    for (std::int64_t changes = random.between(1, 4); changes > 0; --changes)
      bytes[static_cast<std::size_t>(random.below(std::ssize(bytes)))] = static_cast<std::byte>(random.below(256));
    try {
      ByteReader reader(bytes);
      reader.read<All>();
      ++read;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 20'000);
}

TEST(Codec, RefusesATensorThatHasMoreValuesThanThereAre) {
  Bytes bytes;
  ByteWriter to(bytes);
  to.write(std::uint8_t{0});
  to.write(std::vector<std::int64_t>{std::int64_t{1} << 40, std::int64_t{1} << 40});
  ByteReader reader(bytes);
  EXPECT_THROW(reader.read<Tensor>(), Error);
}

}  // namespace
}  // namespace penstock
