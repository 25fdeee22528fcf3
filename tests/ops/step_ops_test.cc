// take_while, enumerate, scan, unique: what they have in common lies in ops/step_op.h.
#include <penstock/ops.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "tests/ops/op_checks.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::run_pass;
using testing::StreamRun;
using testing::UNK;

OpRef below(std::int64_t limit) {
  const auto predicate = [limit](const std::int64_t& value) { return value < limit; };
  return ops::take_while(detail::copied(detail::PredicateStep<decltype(predicate), std::int64_t>(predicate)));
}

OpRef numbered(std::int64_t start) {
  return ops::enumerate(start, detail::copied(detail::EnumerateStep<std::int64_t>(start)));
}

std::string print_pair(const Element& element) {
  const auto& [number, value] = element.get<std::tuple<std::int64_t, std::int64_t>>();
  return std::to_string(number) + ":" + std::to_string(value);
}

// The sum so far; 13 is not to be had.
OpRef sums() {
  const auto add = [](const std::int64_t& sum, std::int64_t value) {
    if (value == 13) throw std::runtime_error("unlucky");
    return Scanned{sum + value, sum + value};
  };
  return ops::scan(detail::copied(detail::ScanStep<std::int64_t, decltype(add), std::int64_t>(0, add)));
}

OpRef distinct() { return ops::unique(detail::copied(detail::UniqueStep<std::int64_t>())); }

TEST(TakeWhile, EndsThePassAtTheFirstThatIsNotWanted) {
  EXPECT_EQ(run_pass(below(3), "0 1 2 3 4 0"), "0 1 2 |");
  EXPECT_EQ(run_pass(below(3), "7 0"), "|");
}

TEST(TakeWhile, GivesAllWhereAllAreWanted) {
  EXPECT_EQ(run_pass(below(9), "0 1 2"), "0 1 2");
  EXPECT_EQ(run_pass(below(9), ""), "");
}

TEST(TakeWhile, LetsErrorsPassUntilItEndsThePass) { EXPECT_EQ(run_pass(below(3), "x 0 x 1 3 x 1"), "x0 0 x2 1 |"); }

TEST(TakeWhile, BeginsAnewInEachPass) {
  StreamRun run(below(3));
  EXPECT_EQ(run.pass("0 5 1").text(testing::print_integer), "0 |");
  EXPECT_EQ(run.pass("1 2").text(testing::print_integer), "1 2");
}

TEST(TakeWhile, DoesNotKnowItsCardinality) {
  testing::expect_cardinalities(below(3), {{10, UNK}, {0, UNK}, {INF, UNK}, {UNK, UNK}});
  testing::expect_keeps_leading_dimension(below(3));
}

TEST(Enumerate, NumbersElementsAndErrors) {
  EXPECT_EQ(StreamRun(numbered(0)).pass("7 x 8 9").text(print_pair), "0:7 x1 2:8 3:9");
  EXPECT_EQ(StreamRun(numbered(-1)).pass("7 8").text(print_pair), "-1:7 0:8");
}

TEST(Enumerate, BeginsAnewInEachPass) {
  StreamRun run(numbered(5));
  EXPECT_EQ(run.pass("1 2").text(print_pair), "5:1 6:2");
  EXPECT_EQ(run.pass("3").text(print_pair), "5:3");
}

TEST(Enumerate, WrapsAroundBehindTheLargestNumber) {
  EXPECT_EQ(StreamRun(numbered(std::numeric_limits<std::int64_t>::max())).pass("1 2").text(print_pair),
            "9223372036854775807:1 -9223372036854775808:2");
}

TEST(Enumerate, KeepsTheCardinalityAndPrintsItsStart) {
  testing::expect_cardinalities(numbered(0), {{10, 10}, {INF, INF}, {UNK, UNK}});
  EXPECT_EQ(numbered(7)->parameters(), "start=7");
}

TEST(Scan, HandsTheStateFromElementToElement) { EXPECT_EQ(run_pass(sums(), "1 2 x 3"), "1 3 x2 6"); }

TEST(Scan, BeginsEachPassWithTheInitialState) {
  StreamRun run(sums());
  EXPECT_EQ(run.pass("1 2").text(testing::print_integer), "1 3");
  EXPECT_EQ(run.pass("1 2").text(testing::print_integer), "1 3");
}

// The engine makes an error element of what a function throws.
TEST(Scan, KeepsTheStateWhereTheFunctionThrows) {
  StreamRun run(sums());
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  const auto take = [&](std::int64_t value) { run.state().element(testing::element_slot(Element(value), {}), out); };
  take(4);
  EXPECT_THROW(take(13), std::runtime_error);
  take(5);
  EXPECT_EQ(out.text(testing::print_integer), "4 9");
}

TEST(Scan, HoldsWhatItsStateHolds) {
  const auto append = [](const std::string& all, std::int64_t) { return Scanned{all + "xxxxxxxxxx", std::int64_t{0}}; };
  StreamRun run(ops::scan(detail::copied(detail::ScanStep<std::string, decltype(append), std::int64_t>("", append))));
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  for (std::int64_t i = 0; i < 100; ++i) run.state().element(testing::element_slot(Element(i), {}), out);
  EXPECT_GE(run.state().held_bytes(), 1000);
  run.end_pass(out);
  EXPECT_EQ(run.state().held_bytes(), 0);
}

TEST(Scan, KeepsTheCardinality) { testing::expect_cardinalities(sums(), {{10, 10}, {INF, INF}, {UNK, UNK}}); }

TEST(Unique, GivesEachValueOnce) { EXPECT_EQ(run_pass(distinct(), "3 1 3 x 3 2 1"), "3 1 x3 2"); }

TEST(Unique, ForgetsBetweenPasses) {
  StreamRun run(distinct());
  EXPECT_EQ(run.pass("1 1 2").text(testing::print_integer), "1 2");
  EXPECT_EQ(run.pass("2 1").text(testing::print_integer), "2 1");
}

TEST(Unique, HoldsWhatItHasSeen) {
  StreamRun run(distinct());
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  const auto take = [&](std::int64_t value) { run.state().element(testing::element_slot(Element(value), {}), out); };
  for (std::int64_t i = 0; i < 1000; ++i) take(i % 10);
  const std::int64_t of_ten = run.state().held_bytes();
  for (std::int64_t i = 0; i < 1000; ++i) take(i % 20);
  EXPECT_GE(of_ten, 10 * std::int64_t{sizeof(std::int64_t)});
  EXPECT_EQ(run.state().held_bytes(), 2 * of_ten);
}

TEST(Unique, DoesNotKnowItsCardinality) {
  testing::expect_cardinalities(distinct(), {{10, UNK}, {0, UNK}, {INF, UNK}, {UNK, UNK}});
  testing::expect_keeps_leading_dimension(distinct());
}

}  // namespace
}  // namespace penstock
