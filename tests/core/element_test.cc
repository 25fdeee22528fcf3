#include <gtest/gtest.h>
#include <penstock/element.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace penstock {
namespace {

using Large = std::array<std::int64_t, 100>;

// Counts its copies; too large to lie inside the box.
struct Copied {
  explicit Copied(int& count) : copies(&count) {}
  Copied(const Copied& other) : copies(other.copies) { ++*copies; }
  Copied(Copied&&) = default;
  Copied& operator=(const Copied&) = delete;
  Copied& operator=(Copied&&) = default;
  ~Copied() = default;
  int* copies;
  std::array<std::byte, 64> ballast{};
};

TEST(Element, HoldsValuesInsideAndOutside) {
  Element number(std::int64_t{7});
  Element text(std::string("n01440764"));
  Element large(Large{1, 2, 3});
  EXPECT_EQ(number.get<std::int64_t>(), 7);
  EXPECT_EQ(text.get<std::string>(), "n01440764");
  EXPECT_EQ(large.get<Large>()[2], 3);
  const Element moved = std::move(large);
  EXPECT_TRUE(large.empty());  // NOLINT: what the header promises
  EXPECT_EQ(moved.get<Large>()[1], 2);
  EXPECT_EQ(moved.bytes(), sizeof(Large));
}

template <std::size_t size> void expect_all_bytes_move() {
  std::array<char, size> value;
  for (std::size_t i = 0; i < size; ++i) value[i] = static_cast<char>(i + 1);
  Element box{std::array<char, size>(value)};
  Element moved(std::move(box));
  box = std::move(moved);
  EXPECT_EQ((box.take<std::array<char, size>>()), value) << size << " bytes";
}

TEST(Element, MovesAllBytesOfItsValue) {
  expect_all_bytes_move<1>();
  expect_all_bytes_move<8>();
  expect_all_bytes_move<9>();
  expect_all_bytes_move<31>();
  expect_all_bytes_move<32>();
  expect_all_bytes_move<33>();  // elsewhere
}

// As bytes where all parts may be moved so; a short string may not: it may refer to itself.
TEST(Element, MovesTuplesAndPairs) {
  using Numbers = std::tuple<long, std::pair<int, float>>;
  using Text = std::tuple<std::string>;
  static_assert(detail::moves_as_bytes<Numbers> && !detail::moves_as_bytes<Text>);
  Element numbers(Numbers(1, {2, 3.5f})), text(Text("short"));
  const Element first(std::move(numbers)), second(std::move(text));
  EXPECT_EQ(first.get<Numbers>(), Numbers(1, {2, 3.5f}));
  EXPECT_EQ(second.get<Text>(), Text("short"));
}

TEST(Element, DestroysWhatItHolds) {
  const auto watched = std::make_shared<int>(1);
  struct Big {
    std::shared_ptr<int> share;
    std::array<std::byte, 64> ballast{};
  };
  {
    Element small(watched);
    Element big(Big{watched});
    EXPECT_EQ(watched.use_count(), 3);
    big = Element(1);
    EXPECT_EQ(watched.use_count(), 2);
  }
  EXPECT_EQ(watched.use_count(), 1);
}

TEST(Element, HoldsValuesThatAreAlignedStrictly) {
  struct alignas(128) Strict {
    int value = 0;
  };
  const Element element(Strict{3});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&element.get<Strict>()) % 128, 0u);
  EXPECT_EQ(element.get<Strict>().value, 3);
}

TEST(ElementThatRefers, CopiesNothingForWhoOnlyReads) {
  int copies = 0;
  const Copied value(copies);
  Element element = Element::referring_to(value);
  const Element moved = std::move(element);
  EXPECT_TRUE(element.empty());  // NOLINT
  EXPECT_EQ(&moved.get<Copied>(), &value);
  EXPECT_EQ(copies, 0);
}

TEST(ElementThatRefers, BecomesAnOwnerForWhoMayWrite) {
  int copies = 0;
  const Copied value(copies);
  Element element = Element::referring_to(value);
  EXPECT_NE(&element.get<Copied>(), &value);
  EXPECT_NE(&element.get<Copied>(), &value);
  EXPECT_EQ(copies, 1);
}

TEST(ElementThatRefers, LeavesTheValueAsItIs) {
  const std::string text = "a name that is too long to lie inside a string";
  Element written = Element::referring_to(text);
  written.get<std::string>() += "!";
  EXPECT_EQ(written.get<std::string>(), text + "!");
  Element taken = Element::referring_to(text);
  EXPECT_EQ(taken.take<std::string>(), "a name that is too long to lie inside a string");
  EXPECT_TRUE(taken.empty());
  EXPECT_EQ(text, "a name that is too long to lie inside a string");
}

TEST(ElementThatRefers, CountsItsBytesAsAnOwnerDoes) {
  const std::string text(1000, 'x');
  EXPECT_EQ(Element::referring_to(text).bytes(), Element(text).bytes());
  EXPECT_TRUE(Element::referring_to(text).bytes_are_known());
}

TEST(ElementThatRefers, IsACopyWhereThatCostsNoMore) {
  std::int64_t number = 3;
  const Element element = Element::referring_to(number);
  number = 4;
  EXPECT_EQ(element.get<std::int64_t>(), 3);
}

TEST(ElementThatRefers, StaysWhatItIsIfTheCopyThrows) {
  struct Fails {
    Fails() = default;
    Fails(const Fails&) { throw 1; }
    std::array<std::byte, 64> ballast{};
  };
  const Fails value;
  Element element = Element::referring_to(value);
  EXPECT_THROW(element.get<Fails>(), int);
  EXPECT_EQ(&std::as_const(element).get<Fails>(), &value);
}

TEST(Elements, MakeListsThatGrow) {
  std::vector<Element> list;
  for (int i = 0; i < 1000; ++i) list.emplace_back(i);
  const std::vector<Element> moved = std::move(list);
  EXPECT_EQ(moved[999].get<int>(), 999);
}

}  // namespace
}  // namespace penstock
