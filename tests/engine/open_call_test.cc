// Calls over several elements: what is done leaves while they go on, and what they have not begun comes back.
#include <functional>
#include <memory>
#include <numeric>

#include "lib/core/batch_block.h"
#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// A stage that has learnt that its calls are cheap, so that it makes one call of the next elements that come together.
class CheapStage {
 public:
  explicit CheapStage(const graph::NodeRef& node, std::size_t index = 1) : lone_(node, index, kLimit) {
    lone_.stage.add_credits(1000);
    if (index == 0) return;
    lone_.feed_together(1);
    lone_.run_tokens();
  }
  // How many slots have left up to now.
  std::size_t sent() const {
    return std::accumulate(lone_.host.notes.sent.begin(), lone_.host.notes.sent.end(), std::size_t{0});
  }
  LoneStage& operator*() noexcept { return lone_; }
  LoneStage* operator->() noexcept { return &lone_; }

 private:
  LoneStage lone_;
};

// Calls `act` when it comes to a value, and is the identity.
auto acting_at(std::int64_t value, std::function<void()>& act) {
  return [value, &act](std::int64_t element) {
    if (element == value) act();
    return element;
  };
}

TEST(OpenCall, LetsWhatIsDoneLeaveBeforeItReturns) {
  std::function<void()> look;
  CheapStage cheap(range(100).map(acting_at(15, look), 1).node());
  std::size_t left = 0;
  look = [&] {
    EXPECT_TRUE(cheap->stage.look_after_calls());
    left = cheap.sent();
  };
  cheap->feed_together(20, 100);
  cheap->run_tokens();
  EXPECT_EQ(left, 15u) << "elements 0 to 14";
  EXPECT_EQ(cheap.sent(), 21u);
  const StageSnapshot snapshot = cheap->snapshot();
  EXPECT_EQ(snapshot.calls, 2) << "the first element, and all others";
  EXPECT_EQ(snapshot.completed, 21);
  EXPECT_EQ(snapshot.samples, 2);
  EXPECT_EQ(snapshot.sampled_elements, 21) << "the time of the call is that of all its elements";
  EXPECT_EQ(snapshot.in_window, 0);
  EXPECT_EQ(cheap->host.memory().used(), 21 * static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(Slot)))
      << "nobody has taken them off the books";
}

TEST(OpenCall, OfASourceDoesSoToo) {
  std::function<void()> look;
  std::int64_t next = 0;
  const auto source = from_generator([&]() -> std::optional<std::int64_t> {
    if (next == 15) look();
    return next < 20 ? std::optional(next++) : std::nullopt;
  });
  std::size_t left = 0;
  CheapStage* cheap = nullptr;
  look = [&] {
    cheap->operator*().stage.look_after_calls();
    left = cheap->sent();
  };
  CheapStage stage(source.node(), 0);
  cheap = &stage;
  stage->run_tokens();
  EXPECT_EQ(left, 15u);
  EXPECT_EQ(stage.sent(), 21u) << "20 elements and a mark";
}

// Gives each element twice, and acts in the midst of two.
class Doubling final : public StreamOp {
 public:
  explicit Doubling(std::function<void()>& act) : act_(act) {}
  std::string name() const override { return "double"; }
  Flow flow(const Flow&) const override { return {}; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(act_); }

 private:
  class State final : public StreamState {
   public:
    explicit State(std::function<void()>& act) : act_(act) {}
    void element(Slot&& slot, Emitter& out) override {
      const auto value = slot.take<std::int64_t>();
      out.emit(Element(value), slot.stamp);
      if (value == 15 || value == 19) act_();
      if (value == 17) throw std::runtime_error("17");
      out.emit(Element(value), slot.stamp);
    }

   private:
    std::function<void()>& act_;
  };
  std::function<void()>& act_;
};

TEST(OpenCall, OfAStreamOpDoesSoToo) {
  std::function<void()> look;
  CheapStage cheap(range(100).then(std::make_shared<Doubling>(look)).node());
  std::size_t left = 0;
  look = [&] {
    cheap->stage.look_after_calls();
    if (left == 0) left = cheap.sent();
  };
  cheap->feed_together(20);
  cheap->run_tokens();
  EXPECT_EQ(left, 30u) << "elements 0 to 14, twice; of 15 only its first half is made";
  EXPECT_EQ(cheap.sent(), 42u) << "of 17 there is one, and its failure";
  ASSERT_EQ(cheap->host.notes.errors.size(), 1u);
  EXPECT_EQ(cheap->host.notes.errors.front().place().ordinal, 17)
      << "also where the call's later results have left already";
}

TEST(OpenCall, GivesBackWhatItHasNotBegunIfItTakesLong) {
  std::function<void()> look;
  std::vector<std::int64_t> seen;
  auto act = acting_at(15, look);
  CheapStage cheap(range(100).map([&](std::int64_t value) { return seen.push_back(value), act(value); }, 1).node());
  look = [&] {
    cheap->host.let_pass(3'000'000);
    cheap->stage.look_after_calls();
  };
  cheap->feed_together(30);
  cheap->run_tokens();
  std::vector<std::int64_t> all(31);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(seen, all);
  EXPECT_EQ(cheap.sent(), 31u);
  EXPECT_GT(cheap->snapshot().calls, 2) << "the rest was run by others, in smaller steps";
  EXPECT_EQ(cheap->snapshot().completed, 31);
}

// Each of what came back may take as long as the call that gave it back: it is not for one thread alone.
TEST(OpenCall, GivesBackWhatOthersTakeInStepsOfTheSizeThatIsRightByNow) {
  std::function<void()> look;
  std::int64_t launched = 0, calls = 0;
  CheapStage* stage = nullptr;
  const auto slow = [&](std::int64_t value) {
    if (value < 15) return value;
    (*stage)->host.let_pass(50'000'000);
    (*stage)->stage.look_after_calls();
    if (value == 15) launched = (*stage)->host.notes.launched;
    if (value == 25) launched = (*stage)->host.notes.launched - launched;
    ++calls;
    return value;
  };
  CheapStage cheap(range(100).map(slow, 4).node());
  stage = &cheap;
  cheap->feed_together(60);
  cheap->run_tokens();
  EXPECT_EQ(calls, 46);
  EXPECT_EQ(cheap.sent(), 61u);
  EXPECT_GE(cheap->snapshot().calls, 40) << "one for each element, from when it is known how long they take";
  EXPECT_GE(launched, 1) << "another thread is asked for while one runs its element";
}

// It is asked for when the call has been chosen, and has not begun: while its hint is looked for.
TEST(OpenCall, BegunAfterStopWasAskedForIsOfOneElement) {
  std::int64_t calls = 0;
  CheapStage* stage = nullptr;
  const auto hint = [&](std::int64_t value) {
    if (value == 7) {
      (*stage)->host.is_stopped = true;
      (*stage)->stage.stop();
    }
    return sizeof value;
  };
  CheapStage cheap(
      range(100).map([&calls](std::int64_t value) { return ++calls, value; }, 1, {.bytes_hint = hint}).node());
  stage = &cheap;
  cheap->feed_together(30);
  cheap->run_tokens();
  EXPECT_LE(calls, 2) << "the first element, when nothing was stopped, and one more";
}

TEST(OpenCall, RunsNothingMoreOfAPassThatNobodyWants) {
  std::function<void()> cut;
  std::vector<std::int64_t> seen;
  auto act = acting_at(15, cut);
  CheapStage cheap(range(100).map([&](std::int64_t value) { return seen.push_back(value), act(value); }, 1).node());
  cut = [&] { cheap->stage.cancel_pass(0, 0); };
  cheap->feed_together(20);
  cheap->run_tokens();
  EXPECT_EQ(seen.back(), 15);
  EXPECT_EQ(cheap->snapshot().in_window, 0);
}

TEST(OpenCall, OfWhichAnElementFailedNamesThatElement) {
  std::function<void()> look;
  const auto dataset = range(60).map(
      [&look](std::int64_t value) {
        if (value == 40) look();
        if (value == 41) throw std::runtime_error("no");
        return value;
      },
      1);
  CheapStage cheap(dataset.node());
  look = [&] { cheap->stage.look_after_calls(); };
  cheap->feed_together(50);
  cheap->run_tokens();
  ASSERT_EQ(cheap->host.notes.errors.size(), 1u);
  EXPECT_EQ(cheap->host.notes.errors.front().place().ordinal, 41);
}

// An element that failed has no row in the batch: those behind it move up as soon as that is known.
TEST(OpenCall, OfWhichAnElementFailedGivesItsPlaceToTheNext) {
  std::function<void()> look;
  auto act = acting_at(15, look);
  std::int64_t place = -1;
  const auto write = [&](std::int64_t value, Context& context) {
    if (value == 3) throw std::runtime_error("3");
    context.outputs().declare(1);
    Tensor row = context.outputs().slot(0, DType::i64, {64});
    const auto at = detail::BatchBlock::row_of(row);
    if (act(value) == 17 && at.block != nullptr) place = 4 * at.block->number() + at.index;
    return row;
  };
  CheapStage cheap(range(100).map(write, 1).batch(4).node());
  look = [&] { cheap->stage.look_after_calls(); };
  cheap->feed_together(20);
  cheap->run_tokens();
  EXPECT_EQ(place, 16) << "of element 17";
}

TEST(OpenCall, IsBrokenOffBetweenElementsWhenTheRunEnds) {
  std::atomic<bool> began{false};
  std::atomic<int> late{0};
  {
    auto run = range(1'000'000)
                   .map(
                       [&](std::int64_t value, Context& context) {
                         if (context.stop_token().stop_requested()) ++late;
                         if (value < 1000) return value;
                         began = true;
                         eventually([&] { return context.stop_token().stop_requested(); });
                         return value;
                       },
                       2)
                   .start({.threads = 2, .tune = false});
    ASSERT_TRUE(eventually([&] { return run.next_for(1ms), began.load(); }));
  }
  EXPECT_LE(late, 2) << "one for each call that had looked before it was told";
}

// ------------------------------------------------------------------------------------------------ what users'
// functions wait for

}  // namespace
}  // namespace penstock
