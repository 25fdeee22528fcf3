#include <gtest/gtest.h>
#include <penstock/fields.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace ps = penstock;

namespace {

struct Base {
  int id = 0;
};
struct Example : Base {
  std::string image;
  std::int32_t label = 0;
  int unlisted = 0;
};
struct Plain {
  int number;
};
struct Hollow {};

}  // namespace

template <> struct ps::Fields<Example> {
  static constexpr auto value = std::tuple{&Example::image, &Example::label, &Example::id};
};
template <> struct ps::Fields<Hollow> { static constexpr auto value = std::tuple{}; };

namespace {

static_assert(ps::HasFields<Example> && ps::HasFields<const Example&>);
static_assert(!ps::HasFields<Plain> && !ps::HasFields<int>);
static_assert(ps::field_count<Example> == 3 && ps::field_count<Hollow> == 0);
static_assert(std::is_same_v<ps::FieldType<Example, 0>, std::string>);
static_assert(std::is_same_v<ps::FieldType<const Example, 1>, std::int32_t>);
static_assert(std::is_same_v<decltype(ps::field<0>(std::declval<const Example&>())), const std::string&>);
static_assert(ps::field_index<Example>(&Example::image) == 0);
static_assert(ps::field_index<Example>(&Example::label) == 1);
static_assert(ps::field_index<Example>(&Example::id) == 2);
static_assert(ps::field_index<Example>(&Example::unlisted) == 3);
static_assert(ps::field_name<Example, 0>() == "image" && ps::field_name<Example, 1>() == "label");

TEST(ForEachField, VisitsTheListedMembersInOrder) {
  Example example;
  example.image = "abc";
  example.label = 7;
  example.id = 9;
  std::vector<std::string> seen;
  ps::for_each_field(example, [&](const auto& member) {
    if constexpr (std::is_same_v<decltype(member), const std::string&>)
      seen.push_back(member);
    else
      seen.push_back(std::to_string(member));
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"abc", "7", "9"}));
}

TEST(ForEachField, CanMoveMembersFromOneObjectToAnother) {
  Example from;
  from.image = std::string(100, 'x');
  from.label = 3;
  from.unlisted = 5;
  Example to;
  ps::for_each_field(from, to, [](auto& a, auto& b) { b = std::move(a); });
  EXPECT_EQ(to.image.size(), 100u);
  EXPECT_TRUE(from.image.empty());
  EXPECT_EQ(to.label, 3);
  EXPECT_EQ(to.unlisted, 0);
}

TEST(ForEachField, ComparesConstantObjects) {
  const Example a;
  Example b;
  b.label = 1;
  int different = 0;
  ps::for_each_field(a, b, [&](const auto& x, const auto& y) { different += x == y ? 0 : 1; });
  EXPECT_EQ(different, 1);
}

TEST(ForEachFieldIndex, GivesIndicesThatAreConstants) {
  std::size_t bytes = 0;
  ps::for_each_field_index<Example>([&](auto i) { bytes += sizeof(ps::FieldType<Example, i>); });
  EXPECT_EQ(bytes, sizeof(std::string) + 2 * sizeof(int));
}

TEST(Field, IsTheMemberItself) {
  Example example;
  ps::field<1>(example) = 12;
  EXPECT_EQ(example.label, 12);
}

}  // namespace
