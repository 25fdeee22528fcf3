#include <penstock/explanation.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/autotune/hand_made.h"

namespace penstock::autotune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Facts slow_reads_and_a_decision() {
  Facts facts = facts_of(slow_reads());
  facts.knobs = {calls_knob(0, 4096, true)};
  facts.decisions = {{.time_ns = 20 * kMs,
                      .stage = 1,
                      .knob = "window",
                      .from = 2,
                      .to = 4,
                      .wanted = 9,
                      .reason = Reason::reordering}};
  return facts;
}

std::string line(const std::string& text, std::size_t number) {
  std::size_t start = 0;
  for (; number > 0; --number) start = text.find('\n', start) + 1;
  return text.substr(start, text.find('\n', start) - start);
}

TEST(ExplanationText, BeginsWithTheRateAndWhetherItIsEnough) {
  EXPECT_THAT(line(to_text(explain(slow_reads_and_a_decision())), 0),
              AllOf(StartsWith("delivering 197 elements/s (197 in 1 s)"),
                    HasSubstr("the consumer waits 92 % of the time -> input-bound")));
}

TEST(ExplanationText, NamesTheBottleneckAndWhyItIsNotWider) {
  const std::string text = to_text(explain(slow_reads_and_a_decision()));
  EXPECT_THAT(
      line(text, 1),
      AllOf(StartsWith("bottleneck: read (op 0); 1.97 of 2 calls are under way: 10 ms a call, 50 us of it on a core")));
  EXPECT_EQ(line(text, 2), "why not more: the number is fixed or bounded by the program");
}

TEST(ExplanationText, HasBoundsChangesAndUse) {
  const std::string text = to_text(explain(slow_reads_and_a_decision()));
  EXPECT_THAT(text, HasSubstr("read (op 0), 2 at once -> 200/s (197) | 2 cores -> 1905/s (197)"));
  EXPECT_THAT(text, HasSubstr("20 calls at once at read (op 0): +852 %, then the limit is the cores"));
  EXPECT_THAT(text, HasSubstr("one more core: nothing now; +29 % once the bottleneck is gone"));
  EXPECT_THAT(text, HasSubstr("changes: at 20 ms decode (op 1) window 2 -> 4, wanted 9 (reordering)"));
  EXPECT_THAT(text, HasSubstr("in use: 0.207 of 2 cores"));
}

TEST(ExplanationText, SaysOnHowManyDatasetsTheCallsOfANestAre) {
  Explanation of = explain(slow_reads_and_a_decision());
  of.stages[0].cycle_length = 16;
  of.stages[0].parallelism = 29;
  EXPECT_THAT(line(to_text(of), 1), HasSubstr(" calls are under way, one at a time on each of 16 datasets: "));
}

TEST(ExplanationText, NamesOtherProcessesWhereTheyUseTheCores) {
  const Snapshot now = with_clocks(
      second_of({delayed(on_pool(worked("nap", 25, 80 * kMs, kMs / 20), 2), 60 * kMs)}, 25, 1), 3 * kMs, 2 * kMs, kMs);
  const std::string text = to_text(explain(facts_with_clocks(now)));
  EXPECT_THAT(line(text, 1),
              StartsWith("bottleneck: the cores, which other processes use; 0.002 of 2 are used by the pipeline"));
  EXPECT_EQ(
      line(text, 2),
      "why not more: other processes use the 2 cores as well: calls are ready to run and have none 100 % of the time");
  EXPECT_THAT(text, HasSubstr("  without the other processes: +300 %, then the limit is nap (op 0)"));
}

TEST(ExplanationText, TellsWhatIsSpentBetweenCalls) {
  const Snapshot now =
      with_clocks(second_of({with_calls(worked("work", 1000, kMs, kMs), 2)}, 1000, 1), 1300 * kMs, 1300 * kMs, 0);
  EXPECT_THAT(to_text(explain(facts_with_clocks(now))),
              HasSubstr("in use: 1.3 of 2 cores, 0.3 of them between calls (the consumer: 0)"));
}

TEST(ExplanationText, SaysUnknownAndNeverNan) {
  Facts facts = slow_reads_and_a_decision();
  facts.window.now.stages[0] = StageSnapshot{.name = "read", .feeds = 1, .parallel = true};
  for (const Explanation& each : {explain(facts), explain(facts_of(Snapshot())), Explanation()}) {
    std::string text = to_text(each);
    std::ranges::transform(text, text.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    EXPECT_THAT(text, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf/")), Not(HasSubstr(" inf "))));
  }
  EXPECT_THAT(to_text(Explanation()), HasSubstr("bottleneck: unknown"));
  EXPECT_THAT(to_text(explain(facts)), HasSubstr("cores -> unknown"));
}

TEST(ExplanationText, HasTwentyLinesAtMost) {
  Facts facts = slow_reads_and_a_decision();
  std::vector<StageSnapshot> many;
  for (int i = 0; i < 40; ++i) many.push_back(with_calls(worked("map", 197, kMs, kMs), 2));
  facts.window.now = second_of(many, 197, 0.9);
  for (int i = 0; i < 9; ++i) facts.decisions.push_back(facts.decisions.front());
  const std::string text = to_text(explain(facts));
  EXPECT_LE(std::ranges::count(text, '\n'), 20);
  EXPECT_THAT(text, HasSubstr("under way"));
}

// Every kind of bottleneck has a sentence of its own.
TEST(ExplanationText, HasASentenceForEachLimitAndEachReason) {
  Explanation of = explain(slow_reads_and_a_decision());
  std::vector<std::string> seen;
  for (const Limit limit : {Limit::consumer, Limit::cpu, Limit::serial, Limit::parallel, Limit::ceiling, Limit::memory,
                            Limit::window, Limit::buffer}) {
    of.bottleneck.limit = limit;
    seen.push_back(line(to_text(of), 1));
  }
  for (int hold = static_cast<int>(Hold::nothing); hold <= static_cast<int>(Hold::knob_limit); ++hold) {
    of.bottleneck.hold = static_cast<Hold>(hold);
    seen.push_back(line(to_text(of), 2));
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST(ExplanationText, NamesTheStageThatStartsThreads) {
  Explanation of = explain(slow_reads_and_a_decision());
  of.warnings = {{Explanation::Problem::foreign_threads, 1, 0.9, 12}};
  EXPECT_THAT(to_text(of), HasSubstr("warning: 0.9 cores are used by threads that are not penstock's, in step with "
                                     "decode (op 1): does its function start"));
}

TEST(ExplanationJson, HasTheSameNumbers) {
  const json read = json::parse(to_json(explain(slow_reads_and_a_decision())));
  EXPECT_EQ(read["delivered"]["value"], 197);
  EXPECT_EQ(read["delivered"]["samples"], 197);
  EXPECT_EQ(read["bottleneck"]["limit"], "parallel");
  EXPECT_EQ(read["bottleneck"]["stage"], "read");
  EXPECT_EQ(read["bottleneck"]["hold"], "user_limit");
  EXPECT_EQ(read["stages"].size(), 2u);
  EXPECT_EQ(read["stages"][0]["clock_samples"], 197);
  EXPECT_EQ(read["decisions"][0]["reason"], "reordering");
  EXPECT_EQ(read["what_ifs"][0]["change"], "call");
  EXPECT_EQ(read["warnings"][0]["problem"], "buffer_cannot_help");
}

TEST(ExplanationJson, NamesTheStageOfAChangeAndTheOneThatIsNext) {
  Explanation of = explain(slow_reads_and_a_decision());
  of.what_ifs = {{.change = Explanation::Change::call, .stage = 0, .next = Limit::parallel, .next_stage = 1}};
  const json read = json::parse(to_json(of));
  EXPECT_EQ(read["what_ifs"][0]["stage"], "read");
  EXPECT_EQ(read["what_ifs"][0]["next_stage"], "decode");
}

TEST(ExplanationJson, HasNullForWhatIsNotKnown) {
  const json read = json::parse(to_json(Explanation()));
  EXPECT_TRUE(read["delivered"]["value"].is_null());
  EXPECT_TRUE(read["headroom"].is_null());
  EXPECT_TRUE(read["bottleneck"]["stage"].is_null());
  EXPECT_EQ(read["bottleneck"]["limit"], "unknown");
}

TEST(ExplanationJson, EscapesNames) {
  Explanation of;
  of.stages.resize(1);
  of.stages[0].name = "a\"b\\c\nd\x01";
  EXPECT_EQ(json::parse(to_json(of))["stages"][0]["name"], of.stages[0].name);
}

}  // namespace
}  // namespace penstock::autotune
