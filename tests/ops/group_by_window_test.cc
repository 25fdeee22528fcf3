#include <penstock/ops.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::StreamRun;
using testing::UNK;

OpRef by_remainder(std::int64_t divisor, std::int64_t size) {
  const auto key = [divisor](const std::int64_t& value) { return value % divisor; };
  return ops::group_by_window(size,
                              std::make_shared<detail::GroupingByKeyFactory<decltype(key), std::int64_t>>(key, size));
}

std::string print_group(const Element& element) {
  std::string text;
  for (const std::int64_t number : element.get<std::vector<std::int64_t>>())
    text += (text.empty() ? "[" : " ") + std::to_string(number);
  return text + "]";
}

std::string grouped(const OpRef& op, const std::string& input) { return StreamRun(op).pass(input).text(print_group); }

// G-01 of tf.data's own tests.
TEST(GroupByWindow, GivesAGroupWhenItIsFullAndTheRestByKey) {
  EXPECT_EQ(grouped(by_remainder(2, 4), "0 0 0 0 1 1 1 1 1 0 0 0"), "[0 0 0 0] [1 1 1 1] [0 0 0] [1]");
  EXPECT_EQ(grouped(by_remainder(10, 2), "9 1 5 1"), "[1 1] [5] [9]");
}

TEST(GroupByWindow, OfOneIsEachElementByItself) { EXPECT_EQ(grouped(by_remainder(2, 1), "3 4 5"), "[3] [4] [5]"); }

TEST(GroupByWindow, OfNothingIsNone) { EXPECT_EQ(grouped(by_remainder(2, 3), ""), ""); }

TEST(GroupByWindow, LetsErrorsPassAtOnce) { EXPECT_EQ(grouped(by_remainder(2, 2), "0 x 1 2 x"), "x1 [0 2] x4 [1]"); }

TEST(GroupByWindow, ForgetsBetweenPasses) {
  StreamRun passes(by_remainder(2, 2));
  testing::RecordingEmitter out;
  passes.state().begin_pass(out);
  passes.state().element(testing::element_slot(Element(std::int64_t{7}), {}), out);
  EXPECT_EQ(passes.pass("1 2").text(print_group), "[2] [1]") << "nobody wanted the rest of the pass before";
}

TEST(GroupByWindow, BearsTheStampOfTheLastElementOfAGroup) {
  const auto out = StreamRun(by_remainder(2, 2)).pass("0 1 3 4 5");
  ASSERT_EQ(out.slots.size(), 3u);
  EXPECT_EQ(out.slots[0].stamp.ordinal, 2);
  EXPECT_EQ(out.slots[1].stamp.ordinal, 3);
  EXPECT_EQ(out.slots[2].stamp.ordinal, 4);
}

TEST(GroupByWindow, HoldsWhatHasNotLeft) {
  StreamRun passes(by_remainder(2, 3));
  testing::RecordingEmitter out;
  passes.state().begin_pass(out);
  std::vector<std::int64_t> held;
  for (const std::int64_t value : {0, 1, 2, 4, 6}) {
    passes.state().element(testing::element_slot(Element(value), {}, 10 + sizeof(Slot)), out);
    held.push_back(passes.state().held_bytes());
  }
  const std::int64_t place = held[0] - 10;  // of a group, with the number of one element
  constexpr std::int64_t number = sizeof(std::int64_t);
  EXPECT_GT(place, static_cast<std::int64_t>(sizeof(std::vector<std::int64_t>)));
  EXPECT_EQ(held[1], 2 * held[0]);
  EXPECT_EQ(held[2], 30 + 2 * place + number);
  EXPECT_EQ(held[3], held[0]) << "one group is full";
  EXPECT_EQ(held[4], 2 * held[0]);
}

TEST(GroupByWindow, KnowsOnlyThatAnEndlessInputHasEndlesslyManyGroups) {
  testing::expect_cardinalities(by_remainder(2, 3), {{10, UNK}, {0, UNK}, {INF, INF}, {UNK, UNK}});
}

// G-02.
TEST(GroupByWindow, RefusesGroupsOfNothing) {
  EXPECT_ERROR(by_remainder(2, 0), ErrorCode::invalid_argument, "size must be at least 1, but is 0");
}

TEST(GroupByWindow, PrintsItsSize) { EXPECT_EQ(by_remainder(2, 3)->parameters(), "size=3"); }

}  // namespace
}  // namespace penstock
