// What all policies have in common: names, bounds, the log.
#include "autotune/policy.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace penstock::autotune {
namespace {

// A stage that waits, whose calls are all under way, and a consumer that waits, too.
class Pipeline {
 public:
  explicit Pipeline(bool user_fixed) {
    now_.stages.resize(1);
    StageSnapshot& stage = now_.stages[0];
    stage.parallel = stage.on_pool = stage.form_is_known = true;
    stage.parallelism = stage.running = 4;
    now_.memory_limit = std::int64_t{1} << 30;
    Knob knob;
    knob.name = "parallelism";
    knob.stage = 0;
    knob.low = 2;
    knob.high = 48;
    knob.user_fixed = user_fixed;
    knob.get = [this] { return now_.stages[0].parallelism; };
    knob.set = [this](std::int64_t to) { now_.stages[0].parallelism = now_.stages[0].running = to; };
    knobs_.push_back(knob);
  }

  void tick(Policy& policy) {
    now_.time_ns += 10'000'000;
    now_.consumer.wait_ns += 10'000'000;
    now_.consumer.waiting = true;
    policy.tick(now_, knobs_);
  }
  std::int64_t calls() const { return now_.stages[0].parallelism; }

 private:
  Snapshot now_;
  std::vector<Knob> knobs_;
};

TEST(Policies, AreMadeByName) {
  for (const char* name : {"penstock", "cores", "tf-max10", "tf-hill", "static:7", "none"}) EXPECT_NE(make_policy(name), nullptr) << name;
  for (const char* name : {"", "static", "static:", "static:0", "static:-1", "static:7x", "Penstock"})
    EXPECT_EQ(make_policy(name), nullptr) << name;
}

TEST(Policies, NeverMoveWhatTheUserHasFixed) {
  for (const char* name : {"penstock", "cores", "tf-max10", "tf-hill", "static:7"}) {
    Pipeline pipeline(true);
    const auto policy = make_policy(name);
    for (int i = 0; i < 100; ++i) pipeline.tick(*policy);
    EXPECT_EQ(pipeline.calls(), 4) << name;
    EXPECT_EQ(policy->log().count(), 0) << name;
  }
}

TEST(Policies, StayWithinTheUsersBounds) {
  Pipeline low(false), high(false);
  const auto one = make_policy("static:1"), many = make_policy("static:1000");
  low.tick(*one);
  high.tick(*many);
  EXPECT_EQ(low.calls(), 2);
  EXPECT_EQ(high.calls(), 48);
}

TEST(Policies, StaticSetsWhatItsNameSays) {
  Pipeline pipeline(false);
  const auto policy = make_policy("static:9");
  pipeline.tick(*policy);
  EXPECT_EQ(pipeline.calls(), 9);
}

TEST(Policies, LogEachMoveWithItsReason) {
  Pipeline pipeline(false);
  const auto policy = make_policy("penstock");
  pipeline.tick(*policy);
  pipeline.tick(*policy);
  ASSERT_EQ(policy->log().count(), 2);
  const Decision& first = policy->log().last().front();
  EXPECT_EQ(first.stage, 0);
  EXPECT_EQ(first.knob, "parallelism");
  EXPECT_EQ(first.from, 4);
  EXPECT_EQ(first.to, 8);
  EXPECT_EQ(first.reason, Reason::slow_start);
  EXPECT_EQ(first.time_ns, 10'000'000);
  EXPECT_EQ(policy->log().last().back().from, 8);
}

TEST(DecisionLog, KeepsTheLastAndCountsAll) {
  DecisionLog log;
  const auto kept = static_cast<std::int64_t>(DecisionLog::kKept);
  for (std::int64_t i = 0; i < kept + 10; ++i) log.add({.time_ns = i, .knob = "prefetch"});
  EXPECT_EQ(log.count(), kept + 10);
  EXPECT_EQ(log.last().size(), DecisionLog::kKept);
  EXPECT_EQ(log.last().front().time_ns, 10);
}

TEST(Reason, HasANameForEach) {
  for (int i = 0; i <= static_cast<int>(Reason::rule); ++i) EXPECT_STRNE(name_of(static_cast<Reason>(i)), "unknown") << i;
}

}  // namespace
}  // namespace penstock::autotune
