// Nests in virtual time: against closed forms, and how the oracle treats them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/exam/describe.h"
#include "tests/exam/oracle_settings.h"
#include "tests/exam/rate_bound.h"
#include "tests/exam/test/worlds.h"

namespace penstock::exam {
namespace {

StageSpec sixteen_of(double elements) { return nest_of(waiting(10), Distribution::constant(elements), 16); }

double rate_with(const StageSpec& nest, std::int64_t calls) {
  SimulatedProcess process(process_of({nest}), 1);
  process.run(0).knob("parallelism", 1).set(calls);
  return rate_of(process, 4);
}

TEST(SimulatedNest, GivesAsManyAsItsOpenDatasets) {
  EXPECT_NEAR(rate_with(sixteen_of(100'000), 64), 1'600, 32) << "more calls have no dataset to read";
  EXPECT_NEAR(rate_with(sixteen_of(100'000), 4), 400, 8) << "or as its calls, where these are fewer";
}

// They come to their places with two elements each, made while others had the places.
TEST(SimulatedNest, GivesWhatWasMadeAheadOnTop) {
  const double rate = rate_with(sixteen_of(8), 64);
  EXPECT_NEAR(rate, 1'600 * 8 / 6, 43);
  EXPECT_NEAR(rate_bound(process_of({sixteen_of(8)}).chains.front(), 2), 1'600 * 8 / 6, 1);
}

TEST(SimulatedNest, WaitsForTheSlowestOfItsDatasetsInEachRound) {
  StageSpec nest = sixteen_of(1'000);
  nest.blocked = Distribution::lognormal(10 * kMs, 0.5);
  const double in_order = rate_with(nest, 64);
  nest.ordered = false;
  EXPECT_NEAR(rate_with(nest, 64), 1'600, 40);
  EXPECT_LT(in_order, 1'400);
}

TEST(SimulatedNest, OpensADatasetForEachElement) {
  StageSpec nest = sixteen_of(3);
  nest.cycle_length = 2;
  SimulatedProcess process(process_of({nest}), 1);
  process.run_until(10 * kSecond);
  const StageSnapshot stage = process.run(0).snapshot().stages[1];
  EXPECT_EQ(stage.cycle_length, 2);
  EXPECT_NEAR(static_cast<double>(stage.elements_out) / static_cast<double>(stage.datasets_opened), 3, 0.2);
}

TEST(RateBound, KnowsHowManyDatasetsOfANestAreOpen) {
  const ChainSpec chain = process_of({sixteen_of(100'000), computing(1)}).chains.front();
  EXPECT_NEAR(rate_bound(chain, 8), 1'600, 1) << "the datasets";
  EXPECT_NEAR(rate_bound(chain, 1), 1'000, 1) << "the cores";
  ChainSpec few = chain;
  few.open_io = 4;
  EXPECT_NEAR(rate_bound(few, 8), 400, 1) << "the threads";
}

TEST(VisitsOf, ANestAreTheElementsOfItsDatasets) {
  const ChainSpec chain = process_of({waiting(1), sixteen_of(50), computing(1)}).chains.front();
  EXPECT_DOUBLE_EQ(visits_of(chain, 3), 1);
  EXPECT_DOUBLE_EQ(visits_of(chain, 2), 1);
  EXPECT_DOUBLE_EQ(visits_of(chain, 1), 1.0 / 50) << "what makes the names of the files";
}

// The controller may not either.
TEST(OracleSettings, LeaveAloneHowManyDatasetsAreOpenedAhead) {
  const ChainSpec chain = process_of({sixteen_of(50), computing(1)}).chains.front();
  std::set<std::string> of_nest;
  for (const Choice& choice : all_choices(chain, 2)) {
    if (choice.stage == 1) of_nest.insert(choice.knob);
  }
  EXPECT_EQ(of_nest, (std::set<std::string>{"buffer", "parallelism"}));
  const auto is_window_of_nest = [](const Setting& each) { return each.knob == "window" && each.stage == 1; };
  for (const std::vector<Settings>& some : {all_settings(chain, 2), small_moves(chain, 2)}) {
    for (const Settings& each : some) EXPECT_TRUE(std::ranges::none_of(each, is_window_of_nest));
  }
}

TEST(OracleTable, ChangesWithTheOpenDatasets) {
  StageSpec more = sixteen_of(50);
  more.cycle_length = 17;
  EXPECT_NE(hash_of(process_of({more})), hash_of(process_of({sixteen_of(50)})));
}

TEST(Describe, TellsOfANestHowManyDatasetsTakeTurns) {
  EXPECT_NE(describe(process_of({sixteen_of(50)})).find("16 datasets of 50 in turn"), std::string::npos);
}

}  // namespace
}  // namespace penstock::exam
