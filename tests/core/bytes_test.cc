#include <gtest/gtest.h>
#include <malloc.h>
#include <penstock/bytes.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ps = penstock;

namespace mine {

struct Clip {
  std::unique_ptr<float[]> samples;
  std::size_t length = 0;
};
std::size_t bytes_of(const Clip& clip) { return sizeof(Clip) + clip.length * sizeof(float); }

struct Example {
  ps::Tensor image;
  std::string name;
  std::int32_t label = 0;
};
struct Point {
  std::int8_t x = 0;
  std::int32_t y = 0;
};
struct Opaque {
  std::shared_ptr<int> hidden;
  std::array<char, 24> inside{};
};
struct Box {
  float left, top, right, bottom;
};
enum class Colour : std::uint16_t { red };

}  // namespace mine

template <> struct ps::Fields<mine::Example> {
  static constexpr auto value = std::tuple{&mine::Example::image, &mine::Example::name, &mine::Example::label};
};
template <> struct ps::Fields<mine::Point> {
  static constexpr auto value = std::tuple{&mine::Point::x, &mine::Point::y};
};

namespace penstock {

// A class of the library with a bytes_of of its own, beside the function object of that name.
struct Columns {
  std::size_t held = 0;
  friend std::size_t bytes_of(const Columns& columns) { return columns.held; }
};

}  // namespace penstock

namespace {

static_assert(ps::has_fixed_bytes<int> && ps::has_fixed_bytes<bool> && ps::has_fixed_bytes<double>);
static_assert(ps::has_fixed_bytes<mine::Colour> && ps::has_fixed_bytes<std::byte>);
static_assert(ps::has_fixed_bytes<std::array<float, 4>> && ps::has_fixed_bytes<const int&>);
static_assert(ps::has_fixed_bytes<std::pair<char, int>> && ps::has_fixed_bytes<mine::Point>);
static_assert(!ps::has_fixed_bytes<std::string> && !ps::has_fixed_bytes<std::vector<int>>);
static_assert(!ps::has_fixed_bytes<ps::Tensor> && !ps::has_fixed_bytes<mine::Opaque>);
static_assert(ps::bytes_known<std::string> && ps::bytes_known<ps::Tensor>);
static_assert(ps::bytes_known<mine::Example> && ps::bytes_known<mine::Clip>);
static_assert(ps::bytes_known<std::vector<std::tuple<mine::Example, std::optional<int>>>>);
static_assert(!ps::bytes_known<mine::Opaque> && !ps::bytes_known<std::vector<mine::Opaque>>);
static_assert(!ps::bytes_known<std::unique_ptr<int>> && !ps::bytes_known<std::map<int, int>>);
static_assert(!ps::bytes_known<std::pair<int, mine::Opaque>>);
// What is copied byte by byte frees nothing, so it owns nothing; but of a pointer nobody knows.
static_assert(ps::has_fixed_bytes<mine::Box> && ps::bytes_known<std::vector<mine::Box>>);
static_assert(!ps::bytes_known<int*> && !ps::bytes_known<std::array<const char*, 2>>);

TEST(BytesOf, ValuesWithoutMemoryElsewhereIsTheirSize) {
  EXPECT_EQ(ps::bytes_of(7), sizeof(int));
  EXPECT_EQ(ps::bytes_of(mine::Colour::red), 2u);
  EXPECT_EQ(ps::bytes_of(std::array<float, 3>{}), 12u);
  EXPECT_EQ(ps::bytes_of(std::pair<char, int>{}), 8u);
  EXPECT_EQ(ps::bytes_of(mine::Point{}), sizeof(mine::Point));
}

TEST(BytesOf, AStringCountsItsHeapOnlyBeyondItsOwnRoom) {
  EXPECT_EQ(ps::bytes_of(std::string("short")), sizeof(std::string));
  const std::string text(1000, 'x');
  EXPECT_EQ(ps::bytes_of(text),
            sizeof(std::string) + 1024);  // 1,001, a word of the allocator's, and what that is rounded up to
}

TEST(BytesOf, AStringCountsTheRoomThatItHasKept) {
  std::string text;
  text.reserve(4096);
  text = "shorter than its room";
  EXPECT_GE(ps::bytes_of(text), sizeof(std::string) + 4096);
}

// 61 bytes take 80: of a million of them on the books, a fifth of the memory would be missing.
TEST(BytesOf, AStringCountsItsHeapBlockAsTheAllocatorDoes) {
  for (const std::size_t length : {16u, 23u, 24u, 25u, 39u, 40u, 60u, 200u}) {
    const std::string text(length, 'x');
    const std::size_t usable = ::malloc_usable_size(const_cast<char*>(text.data()));
    if (usable == text.capacity() + 1 && usable % 16 != 8)
      GTEST_SKIP() << "another allocator, which does not tell what it rounds up to";
    const std::size_t block = usable + 8;
    EXPECT_LE(ps::bytes_of(text), sizeof(std::string) + block) << length;
    EXPECT_GE(ps::bytes_of(text) + 16, sizeof(std::string) + block)
        << length << ": one that was used before may be larger by what is no block";
  }
}

TEST(BytesOf, AVectorCountsItsValuesAndItsSpareRoom) {
  EXPECT_EQ(ps::bytes_of(std::vector<std::int64_t>(10)), 80u);
  std::vector<int> spare{1, 2};
  spare.reserve(100);
  EXPECT_EQ(ps::bytes_of(spare), spare.capacity() * sizeof(int));
  std::vector<std::string> texts(3);
  EXPECT_EQ(ps::bytes_of(texts), 3 * sizeof(std::string));
  texts.reserve(100);
  EXPECT_EQ(ps::bytes_of(texts), texts.capacity() * sizeof(std::string));
  EXPECT_EQ(ps::bytes_of(std::vector<bool>(128)), 16u);
}

TEST(BytesOf, AVectorOfTensorsIsTheSumOfTheirValues) {
  std::vector<ps::Tensor> tensors;
  tensors.reserve(2);
  tensors.emplace_back(ps::DType::f32, ps::Shape{10});
  tensors.emplace_back(ps::DType::u8, ps::Shape{7});
  EXPECT_EQ(ps::bytes_of(tensors), 47u);
}

TEST(BytesOf, ATensorIsItsValues) {
  EXPECT_EQ(ps::bytes_of(ps::Tensor(ps::DType::f32, {224, 224, 3})), 224u * 224 * 3 * 4);
}

TEST(BytesOf, AStructWithFieldsIsTheSumOfThem) {
  mine::Example example;
  example.image = ps::Tensor(ps::DType::u8, {1000});
  EXPECT_EQ(ps::bytes_of(example), 1000 + sizeof(std::string) + 4);
}

TEST(BytesOf, CompositesAddUpWhatTheyHold) {
  const std::vector<char> half(50);
  EXPECT_EQ(ps::bytes_of(std::tuple(half, 1, half)), 104u);
  EXPECT_EQ(ps::bytes_of(std::pair(half, half)), 100u);
  EXPECT_EQ(ps::bytes_of(std::array{half, half}), 100u);
  EXPECT_EQ(ps::bytes_of(std::optional(half)), 50u);
  EXPECT_EQ(ps::bytes_of(std::optional<std::vector<char>>()), 0u);
}

TEST(BytesOf, FindsTheFunctionBesideAUsersType) {
  mine::Clip clip;
  clip.length = 25;
  EXPECT_EQ(ps::bytes_of(clip), sizeof(mine::Clip) + 100);
  std::vector<mine::Clip> clips(2);
  EXPECT_EQ(ps::bytes_of(clips), 2 * sizeof(mine::Clip));
}

TEST(BytesOf, FindsTheFriendOfAClassOfTheLibrary) {
  EXPECT_EQ(ps::bytes_of(ps::Columns{.held = 123}), 123u);
  EXPECT_TRUE(ps::bytes_known<ps::Columns>);
}

TEST(BytesOf, SaysWhichPartOfATypeCannotBeSeen) {
  using ps::detail::Bytes;
  EXPECT_EQ((*Bytes<std::vector<std::pair<int, mine::Opaque>>>::unseen), typeid(mine::Opaque));
  EXPECT_EQ((*Bytes<std::tuple<std::unique_ptr<int>, mine::Opaque>>::unseen), typeid(std::unique_ptr<int>));
  EXPECT_EQ(Bytes<std::vector<mine::Example>>::unseen, nullptr);
}

TEST(BytesOf, AnythingElseIsItsSize) {
  EXPECT_EQ(ps::bytes_of(mine::Opaque{}), 40u);
  EXPECT_EQ(ps::bytes_of(std::make_unique<int>(1)), sizeof(void*));
}

}  // namespace
