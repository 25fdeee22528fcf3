#include <penstock/ops.h>

#include <limits>
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

using Numbers = std::vector<std::int64_t>;

OpRef windows(std::int64_t size, WindowOptions options = {}) {
  return ops::window(size, std::make_shared<detail::TypedGathererFactory<std::int64_t>>(), options);
}

std::string print_list(const Element& element) {
  std::string text = "[";
  for (const std::int64_t number : element.get<Numbers>())
    text += (text.size() > 1 ? " " : "") + std::to_string(number);
  return text + "]";
}

std::string run(const OpRef& op, const std::string& input) { return StreamRun(op).pass(input).text(print_list); }

// W-01 to W-04 of tf.data's own tests.
TEST(Window, HasElementsThatFollowEachOther) {
  EXPECT_EQ(run(windows(2), "0 1 2 3 4 5 6"), "[0 1] [2 3] [4 5] [6]");
  EXPECT_EQ(run(windows(2, {.stride = 2, .drop_remainder = true}), "0 1 2 3 4 5 6"), "[0 2] [2 4] [4 6]");
  EXPECT_EQ(run(windows(8, {.shift = 3}), "0 1 2 3 4 5 6"), "[0 1 2 3 4 5 6] [3 4 5 6] [6]");
  EXPECT_EQ(run(windows(8, {.shift = 3, .drop_remainder = true}), "0 1 2 3 4 5 6"), "");
  EXPECT_EQ(run(windows(2, {.shift = 8}), "0 1 2 3 4 5 6"), "[0 1]");
}

TEST(Window, SkipsWhatLiesBetweenWindows) {
  EXPECT_EQ(run(windows(2, {.shift = 4}), "0 1 2 3 4 5 6 7 8"), "[0 1] [4 5] [8]");
  EXPECT_EQ(run(windows(1, {.shift = 3}), "0 1 2 3 4 5 6"), "[0] [3] [6]");
  EXPECT_EQ(run(windows(2, {.shift = 5, .stride = 3}), "0 1 2 3 4 5 6 7 8"), "[0 3] [5 8]");
}

TEST(Window, OfNothingIsNone) { EXPECT_EQ(run(windows(3), ""), ""); }

// W-08.
TEST(Window, LeavesErrorsOutThatNoWindowHas) {
  EXPECT_EQ(run(windows(2, {.shift = 2, .stride = 2, .drop_remainder = true}), "1 x 2 x 3"), "[1 2] [2 3]");
  EXPECT_EQ(run(windows(1, {.shift = 2}), "0 x 2 x"), "[0] [2]");
}

TEST(Window, TellsAnErrorOnceInItsPlaceAndGoesOnWithoutIt) {
  EXPECT_EQ(run(windows(3, {.shift = 1}), "0 x 2 3"), "x1 [0 2] [2 3] [2 3] [3]");
  EXPECT_EQ(run(windows(2), "0 1 x 3 x x"), "[0 1] x2 [3] x4 x5");
}

TEST(Window, ThatIsToBeWholeHasNoError) {
  EXPECT_EQ(run(windows(2, {.drop_remainder = true}), "0 1 x 3 4 5"), "[0 1] x2 [4 5]");
}

TEST(Window, BeginsAnewInEachPass) {
  StreamRun passes(windows(3, {.shift = 2, .drop_remainder = true}));
  EXPECT_EQ(passes.pass("0 1 2 3").text(print_list), "[0 1 2]");
  EXPECT_EQ(passes.pass("4 5 6 7").text(print_list), "[4 5 6]");
}

TEST(Window, BearsTheStampOfItsLastElement) {
  const auto out = StreamRun(windows(3, {.shift = 2})).pass("0 1 2 3");
  ASSERT_EQ(out.slots.size(), 2u);
  EXPECT_EQ(out.slots[0].stamp.ordinal, 2);
  EXPECT_EQ(out.slots[1].stamp.ordinal, 3);
}

// Counted from a list that is written down: each size, shift and stride, on inputs with errors at every place.
TEST(Window, IsWhatTheGridSays) {
  constexpr std::int64_t kInputs = 9;
  for (std::int64_t size = 1; size <= 4; ++size)
    for (std::int64_t shift = 1; shift <= 5; ++shift)
      for (std::int64_t stride = 1; stride <= 4; ++stride)
        for (std::int64_t failed = -1; failed < kInputs; ++failed) {
          std::vector<std::string> expected;
          for (std::int64_t begin = 0; begin < kInputs; begin += shift) {
            std::string window;
            for (std::int64_t at = begin; at < kInputs && at < begin + size * stride; at += stride)
              if (at != failed) window += (window.empty() ? "[" : " ") + std::to_string(at);
            if (!window.empty()) expected.push_back(window + "]");
          }
          std::string input;
          for (std::int64_t i = 0; i < kInputs; ++i) input += i == failed ? "x " : std::to_string(i) + " ";
          std::vector<std::string> given;
          const auto out = StreamRun(windows(size, {.shift = shift, .stride = stride})).pass(input);
          for (const Slot& slot : out.slots)
            if (slot.is_element()) given.push_back(print_list(slot.value));
          EXPECT_EQ(given, expected) << size << " " << shift << " " << stride << " without " << failed;
        }
}

TEST(Window, HoldsNoMoreThanLaterWindowsWant) {
  StreamRun passes(windows(2, {.shift = 3, .stride = 2}));
  testing::RecordingEmitter out;
  passes.state().begin_pass(out);
  std::vector<std::int64_t> held;
  for (std::int64_t i = 0; i < 6; ++i) {
    passes.state().element(testing::element_slot(Element(i), {}, sizeof(Slot) + 10), out);
    held.push_back(passes.state().held_bytes());
  }
  const std::int64_t one = 10 + sizeof(Slot) + sizeof(std::int64_t);  // with its slot, and its position
  EXPECT_EQ(held, (std::vector<std::int64_t>{one, one, 0, one, one, 0}));
}

TEST(Window, KnowsItsCardinality) {
  testing::expect_cardinalities(windows(2, {.shift = 1}), {{10, 10}, {0, 0}, {INF, INF}, {UNK, UNK}});
  testing::expect_cardinalities(windows(3, {.shift = 4, .stride = 3}), {{13, 4}});
  testing::expect_cardinalities(windows(4, {.shift = 3, .drop_remainder = true}), {{3, 0}, {4, 1}, {6, 1}, {7, 2}});
  EXPECT_EQ(testing::leading_dimension(windows(4, {.drop_remainder = true}), {.cardinality = 9}), 4);
  EXPECT_EQ(testing::leading_dimension(windows(4), {.cardinality = 9}), UNK);
}

TEST(Window, RefusesNumbersBelowOne) {
  EXPECT_ERROR(windows(0), ErrorCode::invalid_argument, "size must be at least 1, but is 0");
  EXPECT_ERROR(windows(2, {.shift = 0}), ErrorCode::invalid_argument, "shift must be at least 1, but is 0");
  EXPECT_ERROR(windows(2, {.stride = -1}), ErrorCode::invalid_argument, "stride must be at least 1, but is -1");
}

TEST(Window, TakesTheLargestNumbersThatDoNotOverflow) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(run(windows(1, {.shift = kMost, .stride = kMost}), "0 1"), "[0]");
  EXPECT_ERROR(windows(3, {.stride = kMost}), ErrorCode::invalid_argument,
               "size must be so small that a window reaches over at most 2^61 positions, but is 3");
}

TEST(Window, OfWhatCannotBeCopiedMustNotOverlap) {
  const auto of_unique = [](WindowOptions options) {
    return ops::window(2, std::make_shared<detail::TypedGathererFactory<std::unique_ptr<int>>>(), options);
  };
  EXPECT_ERROR(of_unique({.shift = 1}), ErrorCode::invalid_argument,
               "windows overlap, but elements of this type cannot be copied: hold them by std::shared_ptr, or make "
               "shift at least 2");
  EXPECT_NO_THROW(of_unique({}));
  EXPECT_NO_THROW(of_unique({.shift = 3, .stride = 2})) << "0 2, 3 5, 6 8";
}

TEST(Window, PrintsWhatDecidesItsElements) {
  EXPECT_EQ(windows(3)->parameters(), "size=3, shift=3, stride=1");
  EXPECT_EQ(windows(3, {.shift = 2, .stride = 4, .drop_remainder = true})->parameters(),
            "size=3, shift=2, stride=4, drop_remainder");
}

}  // namespace
}  // namespace penstock
