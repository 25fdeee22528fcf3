// The suite itself: an op that forgets an obligation is reported, and by the check that is meant to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/flawed_ops.h"
#include "tests/conformance/suite.h"

namespace conformance {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class T> Cellar<T> cellar() { return std::make_shared<std::vector<T>>(); }

// sums: how many a pass gives at most, 0: all.
Case stream_with(Flaw flaw, std::int64_t sums = 0) {
  return op("own_stream, flawed", {{.kind = Kind::own_stream, .count = 3, .index = sums}}, {},
            [flaw, tokens = cellar<Token>(), others = cellar<MoveOnlyToken>()]<class T>(In<T> in, const Op& described,
                                                                                        const Feed& feed) {
              Cellar<T> place;
              if constexpr (std::is_same_v<T, Token>)
                place = tokens;
              else
                place = others;
              return in.template then<T>(std::make_shared<OwnStream<T>>(described, feed, flaw, place));
            });
}

Case elementwise_with(Flaw flaw) {
  return op("own_elementwise, flawed", {{.kind = Kind::own_elementwise}}, {.calls_function = true},
            [flaw]<class T>(In<T> in, const Op& described, const Feed& feed) {
              return in.template then<T>(std::make_shared<FlawedElementwise<T>>(described, feed, flaw));
            });
}

// What one check says of an op.
std::vector<std::string> report(const std::string& check, const Case& tested) {
  const auto found = std::ranges::find(all_checks(), check, [](const Check& c) { return c.name; });
  if (found == all_checks().end()) throw std::logic_error("there is no check '" + check + "'");
  return findings_of(*found, tested);
}

#define EXPECT_REPORT(check, tested, words) EXPECT_THAT(report(check, tested), Contains(HasSubstr(words)))

TEST(ConformanceSuite, FindsNothingInTheSameOpsWithoutAFlaw) {
  for (const Case& tested : {stream_with(Flaw::none), stream_with(Flaw::none, 2), elementwise_with(Flaw::none)})
    for (const Check& check : all_checks())
      EXPECT_THAT(findings_of(check, tested), IsEmpty()) << tested.name << ", " << check.name;
}

// `end twice` has no flaw here: behind its end no op is called, so none can give anything there. It
// checks the engine.

TEST(ConformanceSuite, ReportsAnOpThatKeepsItsStateFromPassToPass) {
  EXPECT_REPORT("passes", stream_with(Flaw::keeps_its_state, 2), "three passes, epoch 0: delivery 2");
  EXPECT_THAT(report("serial", stream_with(Flaw::keeps_its_state, 2)), IsEmpty()) << "one pass is right";
}

TEST(ConformanceSuite, ReportsAnOpThatGivesSomethingElseThanTheModel) {
  EXPECT_REPORT("serial", stream_with(Flaw::miscalculates), "9 elements, serially: delivery 0");
}

TEST(ConformanceSuite, ReportsAnOpThatSwallowsErrors) {
  EXPECT_REPORT("errors", stream_with(Flaw::swallows_errors), "must be error of source");
}

TEST(ConformanceSuite, ReportsAnOpThatLosesANeighbourOfAnError) {
  EXPECT_REPORT("errors", stream_with(Flaw::loses_a_neighbour), "an error before it at 4");
}

TEST(ConformanceSuite, ReportsAnOpThatMovesErrorsFromTheirPlace) {
  EXPECT_REPORT("errors", stream_with(Flaw::delays_errors), "must be error of source");
}

TEST(ConformanceSuite, ReportsAnOpThatSaysItIsAsNewAfterAnOutputButIsNot) {
  EXPECT_REPORT("checkpoint", stream_with(Flaw::says_it_is_as_new, 2), "resumed after 1 deliveries");
}

TEST(ConformanceSuite, ReportsAnOpThatHoldsMoreThanItDeclares) {
  EXPECT_REPORT("declares", stream_with(Flaw::holds_undeclared), "elements_held()");
}

TEST(ConformanceSuite, ReportsAnOpThatDoesNotCountWhatItHolds) {
  EXPECT_REPORT("declares", stream_with(Flaw::forgets_its_bytes), "held_bytes() after 1 elements");
}

TEST(ConformanceSuite, ReportsAnOpThatDoesNotTellItsParameters) {
  EXPECT_REPORT("declares", stream_with(Flaw::forgets_parameters), "do not tell 3");
}

TEST(ConformanceSuite, ReportsAnOpWithoutItsName) {
  EXPECT_REPORT("declares", stream_with(Flaw::forgets_its_name), "its name is ''");
}

TEST(ConformanceSuite, ReportsAnOpThatMiscountsItsResults) {
  EXPECT_REPORT("declares", stream_with(Flaw::miscounts), "cardinality of 12 inputs is 12, must be 4");
}

TEST(ConformanceSuite, ReportsAnOpThatWaitsForMoreThanItNeeds) {
  EXPECT_REPORT("gate", stream_with(Flaw::waits_for_one_more), "stands still");
  EXPECT_THAT(report("serial", stream_with(Flaw::waits_for_one_more)), IsEmpty());
}

TEST(ConformanceSuite, ReportsAnOpThatLeaks) {
  EXPECT_REPORT("cancel", stream_with(Flaw::leaks), "what is alive then");
}

TEST(ConformanceSuite, ReportsAnOpThatForgetsTheRestOfAPass) {
  EXPECT_REPORT("few", stream_with(Flaw::forgets_the_rest), "1 elements, 1 passes");
}

TEST(ConformanceSuite, ReportsAnOpThatFansOutThoughItDeniesIt) {
  EXPECT_REPORT("declares", elementwise_with(Flaw::denies_fanning_out), "may_fan_out() is false");
}

TEST(ConformanceSuite, ReportsAnOpThatGrowsThoughItDeniesIt) {
  EXPECT_REPORT("declares", elementwise_with(Flaw::denies_growing), "passes_memory_on() is true");
}

TEST(ConformanceSuite, ReportsAnOpThatForetellsLessThanItGives) {
  EXPECT_REPORT("declares", elementwise_with(Flaw::foretells_too_little), "bytes_hint() is 100");
}

TEST(ConformanceSuite, ReportsAnOpThatDeclaresMoreOutputsThanItGives) {
  EXPECT_REPORT("declares", elementwise_with(Flaw::declares_too_many), "outputs().declare() for element");
}

TEST(ConformanceSuite, ReportsAnOpThatFailsAWholeCallForOneElement) {
  EXPECT_REPORT("declares", elementwise_with(Flaw::fails_the_whole_call), "fails on 4");
}

TEST(ConformanceSuite, ReportsAnOpWhoseResultsDependOnItsCalls) {
  EXPECT_REPORT("passes", elementwise_with(Flaw::counts_calls), "three passes");
}

TEST(ConformanceSuite, PrintsWhatPassedWhatFailedAndWhatDoesNotApplyWithItsReason) {
  const Row row{"some_op", std::vector<Cell>(all_checks().size())};
  Row other = row;
  other.cells[1].findings = {"a finding"};
  other.cells[2].not_applicable = "some reason";
  const std::string table = table_of({row, other});
  EXPECT_THAT(table, HasSubstr("some_op  ok        ok      ok"));
  EXPECT_THAT(table, HasSubstr("some_op  ok        FAILS   -"));
  EXPECT_THAT(table, HasSubstr("some reason: some_op"));
  EXPECT_THAT(table, HasSubstr("2 x 14, 1 FAILED (26 passed, 1 do not apply)"));
  EXPECT_THAT(table_of({row}), HasSubstr("1 x 14, all passed (14 passed, 0 do not apply)"));
}

}  // namespace
}  // namespace conformance
