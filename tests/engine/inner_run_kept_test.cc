// Runs that a function keeps from call to call and from pass to pass, when a call in which they are read is not wanted
// any more.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

// By default the engine reads one or two elements ahead of who is slow: too few for a source that is to come to its
// wait.
constexpr std::int64_t kFarAhead = 8;

// A source whose passes read a run that all of them share, each an epoch of it.
Dataset<std::int64_t> epochs_of(SharedRun& kept, const std::function<IntegerRun()>& start) {
  const auto make = [&kept, start](Pass pass) {
    return [&kept, start, pass, is_new = true]() mutable -> std::optional<std::int64_t> {
      if (!kept) kept = std::make_shared<IntegerRun>(start());
      if (std::exchange(is_new, false)) kept->epoch(pass.epoch);
      return kept->next();
    };
  };
  return from_generator(make, {.blocks = true}).prefetch(kFarAhead);
}

// Its function is asked once for each epoch: whoever leaves one early cuts the run, which is of use in the next one.
TEST(KeptRun, IsWholeInTheNextEpoch) {
  std::atomic<bool> waits{false};
  const auto waits_in_the_first = [&](std::int64_t i, Context& context) {
    if (context.epoch() > 0 || i < 3) return i;
    waits = true;
    while (!context.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
    return i;
  };
  SharedRun kept;
  const auto start = [&] { return range(6).map(waits_in_the_first).start({.epochs = 10}); };
  auto outer = epochs_of(kept, start).start({.epochs = 2});
  EXPECT_EQ(outer.next(), 0);
  EXPECT_TRUE(eventually([&] { return waits.load(); }));
  outer.epoch(1);
  EXPECT_EQ(rest_of(outer), numbers(0, 6));
  kept.reset();
}

// And whoever leaves the next one early cuts it again, or waits for ever for a function that asks whether it is wanted.
TEST(KeptRun, IsCutInEachEpochThatIsLeft) {
  std::atomic<int> waits{0};
  const auto waits_in_all = [&](std::int64_t i, Context& context) {
    if (i < 3) return i;
    ++waits;
    while (!context.is_unwanted()) std::this_thread::sleep_for(1ms);
    return i;
  };
  SharedRun kept;
  {
    auto outer = epochs_of(kept, [&] { return range(6).map(waits_in_all).start({.epochs = 10}); }).start({.epochs = 4});
    for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
      const int before = waits;
      outer.epoch(epoch);
      EXPECT_EQ(outer.next(), 0);
      EXPECT_TRUE(eventually([&] { return waits > before; }));
    }
  }
  kept.reset();
}

// A source whose passes read five elements each of a run that all of them share; `reads` reads one.
template <class Reads> Dataset<std::int64_t> fives_of(SharedRun& kept, Reads reads) {
  const auto make = [&kept, reads](Pass) {
    return [&kept, reads, left = 5](Context& context) mutable -> std::optional<std::int64_t> {
      if (left-- == 0) return std::nullopt;
      return reads(kept, context);
    };
  };
  return from_generator(make, {.blocks = true}).prefetch(kFarAhead);
}

// A loop that goes on behind errors comes to an end: it is told in each pass, and then that there is no more.
TEST(KeptRun, IsToldOnceInEachPassOfTheSourceThatKeepsIt) {
  std::atomic<bool> waits{false};
  std::atomic<int> told{0};
  const auto waits_once = [&](std::int64_t i, Context& context) {
    if (i == 3 && !waits.exchange(true)) {
      while (!context.is_unwanted()) std::this_thread::sleep_for(1ms);
    }
    return i;
  };
  SharedRun kept;
  const auto reads = [&](SharedRun& run, Context&) {
    if (!run) run = std::make_shared<IntegerRun>(range(100).map(waits_once).start());
    for (;;) {
      try {
        return run->next();
      } catch (const Error&) {
        if (++told > 100) throw;
      }
    }
  };
  {
    auto outer = fives_of(kept, reads).start({.epochs = 3});
    EXPECT_EQ(outer.next(), 0);
    EXPECT_TRUE(eventually([&] { return waits.load(); }));
    for (std::uint32_t epoch = 1; epoch < 3; ++epoch) {
      outer.epoch(epoch);
      EXPECT_EQ(outer.next(), std::nullopt);
    }
  }
  kept.reset();
  EXPECT_EQ(told, 3);
}

// A call that nobody wants any more reads a kept run by `first`, and so cuts it; a wanted one begins it anew. What that
// one gives: how many elements there were.
template <class First> std::string read_anew(const Dataset<std::int64_t>& data, First first) {
  SharedRun kept;
  std::mutex one_at_a_time;
  std::atomic<bool> began{false}, is_cut{false};
  std::string read;
  const auto reads = [&](std::int64_t value, Context& context) {
    if (value == 0) return value;
    const std::lock_guard lock(one_at_a_time);
    if (kept) {
      kept->epoch(0);
      return static_cast<std::int64_t>(rest_of(*kept).size());
    }
    kept = std::make_shared<IntegerRun>(data.start({.serial = true}));
    began = true;
    while (!context.is_unwanted()) std::this_thread::sleep_for(1ms);
    first(*kept);
    is_cut = true;
    return value;
  };
  {
    auto outer = range(2).map(reads, 2, {.blocks = true}).start({.epochs = 2});
    EXPECT_EQ(outer.next(), 0);
    EXPECT_TRUE(eventually([&] { return began.load(); }));
    std::thread leaves([&] { outer.epoch(1); });
    EXPECT_TRUE(eventually([&] { return is_cut.load(); }));
    leaves.join();
    EXPECT_EQ(outer.next(), 0);
    read = next_text(outer);
  }
  kept.reset();
  return read;
}

// The first time it cannot begin.
class FailsToOpenOnce final : public StreamOp {
 public:
  std::string name() const override { return "fails_to_open_once"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override {
    if (fails_.exchange(false)) throw std::runtime_error("not yet");
    return std::make_unique<Passes>();
  }

 private:
  struct Passes final : StreamState {
    void element(Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
  };
  mutable std::atomic<bool> fails_{true};
};

TEST(KeptRun, BeginsAnewThoughItHadNotBegun) {
  const auto data = range(5).then<std::int64_t>(std::make_shared<FailsToOpenOnce>());
  EXPECT_EQ(read_anew(data, [](IntegerRun& run) { EXPECT_ANY_THROW(run.next()); }), "5");
}

TEST(KeptRun, BeginsAnewThoughItsReaderHasNotBeenTold) {
  const auto slow = [](std::int64_t x) {
    return range(3).map([x](std::int64_t y) { return std::this_thread::sleep_for(1ms), 3 * x + y; });
  };
  const auto count = [](const std::vector<std::int64_t>& batch) { return std::ssize(batch); };
  const auto data = range(8).flat_map(slow).batch(24).map(count);
  const auto looks = [](IntegerRun& run) {
    try {
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(run.next_for(1us).timed_out());
    } catch (const std::exception&) {  // on a slow machine it has been told by now, which must not matter either
    }
  };
  EXPECT_EQ(read_anew(data, looks), "1");
}

// By the context of whatever call reads a run that is kept, though that call is not the one that made it.
TEST(KeptRun, OfFunctionsThatAskTheContextOfALaterPassIsNotWhole) {
  std::atomic<Context*> asked{nullptr};
  std::atomic<bool> waits{false};
  const auto some = [&](std::int64_t x) {
    waits = x == 5;
    std::int64_t count = 0;
    for (; count < 3 && !asked.load()->is_unwanted(); ++count) {
      while (x == 5 && count == 1 && !asked.load()->is_unwanted()) std::this_thread::sleep_for(1ms);
    }
    return count;
  };
  Texts given;
  SharedRun kept;
  const auto reads = [&](SharedRun& run, Context& context) {
    asked = &context;
    if (!run) run = std::make_shared<IntegerRun>(range(20).map(some).start());
    try {
      given.push_back(next_text(*run));
    } catch (const Error& error) {
      given.emplace_back(to_string(error.code()));
    }
    return 0;
  };
  {
    auto outer = fives_of(kept, reads).start({.epochs = 2});
    EXPECT_EQ(rest_of(outer).size(), 5U);
    outer.epoch(1);
    EXPECT_TRUE(eventually([&] { return waits.load(); }));
  }
  kept.reset();
  EXPECT_THAT(given, ::testing::ElementsAre("3", "3", "3", "3", "3", "cancelled"));
}

// A function that waits until nobody wants what it gives, if it is to.
struct Waits {
  std::atomic<bool>& is_to;
  std::atomic<bool>& does;
  bool operator()(Context& context) const {
    if (!is_to.exchange(false)) return false;
    does = true;
    while (!context.is_unwanted()) std::this_thread::sleep_for(1ms);
    return true;
  }
};

// The run that its functions keep is still one that the outer run ends. With its block, or the test hangs.
TEST(KeptRun, ThatBeginsAnewKeepsItsOwnRuns) {
  std::atomic<bool> first_is_to{true}, first_waits{false}, second_is_to{false}, second_waits{false};
  SharedRun first, second;
  const auto in_second = [wait = Waits{second_is_to, second_waits}](std::int64_t i, Context& context) {
    wait(context);
    return i;
  };
  const auto in_first = [&, wait = Waits{first_is_to, first_waits}](std::int64_t i, Context& context) {
    if (i == 0) return i;
    if (!second) second = std::make_shared<IntegerRun>(range(50).map(in_second).start());
    return i == 2 && wait(context) ? i : second->next().value_or(-1);
  };
  {
    auto outer = epochs_of(first, [&] { return range(5).map(in_first, 1).start({.epochs = 10}); }).start({.epochs = 2});
    EXPECT_EQ(outer.next(), 0);
    EXPECT_EQ(outer.next(), 0) << "of the second one";
    EXPECT_TRUE(eventually([&] { return first_waits.load(); }));
    second_is_to = true;
    outer.epoch(1);
    EXPECT_EQ(outer.next(), 0);
    EXPECT_TRUE(outer.next_for(20ms).timed_out());
    EXPECT_TRUE(eventually([&] { return second_waits.load(); }));
  }
  first.reset();
  second.reset();
}

TEST(KeptRun, ThatHadGivenNothingGoesOnBehindItsCheckpoint) {
  std::atomic<bool> is_to{false}, waits{false};
  const auto data = range(10).map([wait = Waits{is_to, waits}](std::int64_t i, Context& context) {
    wait(context);
    return i;
  });
  std::shared_ptr<Checkpoint> place;
  {
    auto before = data.start();
    for (int i = 0; i < 6; ++i) before.next();
    place = std::make_shared<Checkpoint>(before.checkpoint());
  }
  is_to = true;
  SharedRun kept;
  {
    const auto make = [&](Pass) {
      return [&, is_new = true]() mutable -> std::optional<std::int64_t> {
        if (!kept) kept = std::make_shared<IntegerRun>(data.start({.resume_from = place}));
        if (std::exchange(is_new, false)) kept->epoch(0);
        try {
          return kept->next();
        } catch (const Error&) {  // nobody wants this call, which does not know it
          EXPECT_ERROR(kept->epoch(0), ErrorCode::cancelled, "nobody wants");
          throw;
        }
      };
    };
    auto outer = from_generator(make, {.blocks = true}).prefetch(kFarAhead).start({.epochs = 2});
    EXPECT_TRUE(outer.next_for(2ms).timed_out());
    EXPECT_TRUE(eventually([&] { return waits.load(); }));
    outer.epoch(1);
    EXPECT_EQ(rest_of(outer), numbers(6, 10));
  }
  kept.reset();
}

}  // namespace
}  // namespace penstock
