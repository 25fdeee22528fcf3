// While an op is asked for the size of a result, or a call is under way, the stage's lock is let go of: others are
// refused memory, and passes are given up.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

constexpr std::int64_t kBig = 100'000;

// A stage whose op foretells kBig for each result, and does something while it is asked for that of a value.
class HintedStage {
 public:
  HintedStage(std::int64_t parallelism, std::function<std::string(std::int64_t, Context&)> call)
      : lone_(range(100)
                  .map(std::move(call), parallelism,
                       {.bytes_hint = [this](std::int64_t value) { return foretell(value); }})
                  .node(),
              1, kLimit) {
    lone_.host.at_outlet = 0;
    lone_.stage.add_credits(100);
    lone_.feed(1);
    lone_.run_tokens();
    lone_.host.memory().release(lone_.host.memory().used());
  }
  // Once.
  void while_asked_for(std::int64_t value, std::function<void()> act) {
    value_ = value;
    act_ = std::move(act);
  }
  LoneStage* operator->() noexcept { return &lone_; }

 private:
  std::size_t foretell(std::int64_t value) {
    if (value == value_) {
      if (const auto act = std::exchange(act_, nullptr)) act();
    }
    return kBig;
  }

  std::int64_t value_ = -1;
  std::function<void()> act_;
  LoneStage lone_;
};

// The flag by which a stage asks for memory is that of all its groups: who goes on without any may not take it from the
// others.
TEST(HintWindow, InWhichAnotherCallIsRefusedLeavesItsWakeUp) {
  std::function<void(std::int64_t)> in_call;
  HintedStage stage(2, [&](std::int64_t value, Context&) {
    if (in_call) in_call(value);
    return std::string(1000, 'x');
  });
  stage->feed(2);
  stage->host.memory().charge(kLimit);
  stage.while_asked_for(1, [&] { stage->stage.run_token(false); });  // another thread, for 2
  std::int64_t launched = -1;
  in_call = [&](std::int64_t value) {
    if (value != 1) return;
    EXPECT_TRUE(stage->snapshot().waits_for_memory);
    const std::int64_t before = stage->host.notes.launched;
    stage->host.memory().release(kLimit);
    if (stage->host.memory().take_wake_up()) stage->stage.memory_is_free();
    launched = stage->host.notes.launched - before;
  };
  stage->stage.run_token(false);
  EXPECT_EQ(launched, 1) << "a thread for 2, while the call on 1 goes on";
}

TEST(HintWindow, InWhichItsPassIsGivenUpLetsNothingMoreOfItBegin) {
  std::vector<std::pair<std::int64_t, bool>> calls;
  HintedStage stage(1, [&](std::int64_t value, Context& context) {
    calls.emplace_back(value, context.is_unwanted());
    return std::string(1000, 'x');
  });
  calls.clear();
  stage->host.memory().charge(kLimit - 4 * kBig - kBig / 2);
  stage->feed_together(4);
  stage.while_asked_for(1, [&] {
    stage->host.memory().charge(4 * kBig);
    stage->stage.cancel_pass(0, 0);  // a take() behind has enough
  });
  stage->run_tokens();
  for (const auto& [value, is_unwanted] : calls) EXPECT_TRUE(is_unwanted) << value;
  EXPECT_LE(calls.size(), 1u) << "the one that was chosen, where it may begin without memory";
}

TEST(HintWindow, InWhichItsPassIsGivenUpTakesItsInputsOffTheBooks) {
  HintedStage stage(1, [&](std::int64_t, Context&) { return std::string(1000, 'x'); });
  stage->host.at_outlet = 1;
  stage->host.memory().charge(kLimit - 4 * kBig - kBig / 2);
  stage->feed_together(4, 1000);
  stage.while_asked_for(1, [&] {
    stage->host.memory().charge(4 * kBig);
    stage->stage.cancel_pass(0, 0);
  });
  stage->run_tokens();
  EXPECT_EQ(stage->snapshot().bytes_held, 0);
  EXPECT_EQ(stage->host.memory().used(), kLimit - kBig / 2);
}

// What it asked for on top is not waited for any more, either.
TEST(HintWindow, ACallThatIsBrokenOffWhenItsPassIsGivenUpIsNotMadeAgain) {
  std::vector<std::int64_t> calls;
  std::function<void()> act;
  const auto asking = [&](std::int64_t value, Context& context) {
    calls.push_back(value);
    if (act) act();
    if (value > 0) context.reserve(kLimit);
    return value;
  };
  LoneStage lone(range(100).map(asking, 1).node(), 1, kLimit);
  lone.stage.add_credits(100);
  lone.feed(1);
  lone.run_tokens();
  lone.host.memory().charge(kLimit / 2);
  act = [&] { lone.stage.cancel_pass(0, 0); };
  lone.feed(1);
  lone.run_tokens();
  lone.host.at_outlet = 0;
  lone.host.memory().release(kLimit / 2);
  lone.stage.memory_is_free();
  lone.run_tokens();
  EXPECT_EQ(calls, (std::vector<std::int64_t>{0, 1}));
  EXPECT_FALSE(lone.snapshot().waits_for_memory);
}

}  // namespace
}  // namespace penstock
