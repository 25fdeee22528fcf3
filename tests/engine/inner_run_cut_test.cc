// Runs that are read in a call of another run, when nobody wants that call any more: what they give until then, and
// whoever goes on with it.
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

using SharedRun = std::shared_ptr<IntegerRun>;

// Has a call read until nobody wants it.
template <class Reads> void end_while(Reads reads) {
  std::atomic<bool> began{false};
  const auto call = [&](std::int64_t value, Context& context) {
    began = true;
    reads(context);
    return value;
  };
  auto outer = range(1).map(call, 1, {.blocks = true}).start();
  EXPECT_TRUE(outer.next_for(5ms).timed_out());
  EXPECT_TRUE(eventually([&] { return began.load(); }));
}

// 4,000 elements that take a millisecond each, of an inner dataset, which is asked whether anybody wants more.
Dataset<std::int64_t> slow_data() {
  return range(1000).flat_map(
      [](std::int64_t) { return range(4).map([](std::int64_t i) { return std::this_thread::sleep_for(1ms), i; }); });
}

constexpr int kRounds = 20;  // who sees first that a call is unwanted is a matter of chance

// How a run ends that reads another one in its function: "whole" or the error's code.
std::string end_of(IntegerRun& run, std::int64_t expected) {
  std::int64_t right = 0;
  while (true) {
    try {
      const auto sum = run.next();
      if (!sum) return right == 20 ? "whole" : std::to_string(right) + " elements, as if that were all";
      if (*sum != expected) return "an element made of nothing";
      ++right;
    } catch (const ElementError&) {  // a loop that goes on behind them
    } catch (const Error& error) {
      return std::string(to_string(error.code()));
    }
  }
}

// How they end that read a slow run while their own call becomes unwanted. `around` makes of a run a dataset of 20
// elements, each of 200 of that run's.
template <class Around> Texts ends_around(Around around) {
  Texts ends;
  for (int round = 0; round < kRounds; ++round) {
    end_while([&](Context& context) {
      auto second = around(std::make_shared<IntegerRun>(slow_data().start())).start();
      ends.push_back(end_of(second, 200));
      EXPECT_TRUE(context.is_unwanted());
    });
  }
  return ends;
}

TEST(CutRun, IsNotWholeToTheRunInWhoseFunctionItIsRead) {
  const auto counts = [](const SharedRun& first) {
    return range(20).map([first](std::int64_t) {
      std::int64_t count = 0;
      while (count < 200 && first->next()) ++count;
      return count;
    });
  };
  EXPECT_THAT(ends_around(counts), ::testing::Each("cancelled"));
}

TEST(CutRun, IsNotWholeToOneThatLeavesItsErrorsOut) {
  const auto takes = [](const SharedRun& first) {
    return range(20)
        .map([first](std::int64_t) {
          for (int i = 0; i < 200; ++i) first->next().value();
          return std::int64_t{200};
        })
        .ignore_errors();
  };
  EXPECT_THAT(ends_around(takes), ::testing::Each("cancelled"));
}

// Whoever keeps what a run has given, in a file, say, must not take a part for the whole.
TEST(InnerRun, ThatNobodyWantsDoesNotEndAsIfItWereWhole) {
  std::string end;
  end_while([&end](Context& outer) {
    auto inner = slow_data().start();
    try {
      std::int64_t count = inner.next() ? 1 : 0;
      while (!outer.is_unwanted()) std::this_thread::sleep_for(1ms);
      while (inner.next()) ++count;
      end = std::to_string(count);
    } catch (const Error& error) {
      end = to_string(error.code());
    }
  });
  EXPECT_EQ(end, "cancelled");
}

// A list that is made of what came until then, in its last batch or as a sum, is no less than an end.
TEST(InnerRun, ThatNobodyWantsGivesNothingThatIsCutShort) {
  std::string given;
  end_while([&given](Context& outer) {
    auto inner = slow_data().batch(1'000'000).start();
    try {
      given = std::to_string(inner.next()->size());
    } catch (const Error& error) {
      given = to_string(error.code());
    }
    EXPECT_TRUE(outer.is_unwanted());
  });
  EXPECT_EQ(given, "cancelled");
}

TEST(InnerRun, ThatNobodyWantsIsCutShortInEachEpoch) {
  Texts ends;
  end_while([&](Context& outer) {
    const auto some = [](std::int64_t i) { return range(i); };
    auto inner = range(50).flat_map(some).start();
    while (!outer.is_unwanted()) std::this_thread::sleep_for(1ms);
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      try {
        std::int64_t count = 0;
        for (auto elements = inner.epoch(epoch); const std::int64_t i : elements) count += i >= 0;
        ends.push_back(std::to_string(count));
      } catch (const Error& error) {
        ends.emplace_back(to_string(error.code()));
      }
    }
  });
  EXPECT_THAT(ends, ::testing::ElementsAre("cancelled", "cancelled", "cancelled"));
}

// Nothing was left out, so its end is told as often as it is asked for.
TEST(InnerRun, ThatIsWholeEndsWholeThoughNobodyWantsIt) {
  std::atomic<bool> began{false};
  std::int64_t count = 0;
  const auto reads = [&](std::int64_t value, Context& outer) {
    auto inner = range(5).start();
    while (inner.next()) ++count;
    began = true;
    while (!outer.is_unwanted()) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(inner.next(), std::nullopt);
    return value;
  };
  {
    auto outer = range(1).map(reads, 1, {.blocks = true}).start();
    EXPECT_TRUE(outer.next_for(20ms).timed_out());
    EXPECT_TRUE(eventually([&] { return began.load(); }));
  }
  EXPECT_EQ(count, 5);
}

// Whoever goes on from there has lost nothing.
TEST(InnerRun, ThatWasCutShortHasACheckpointBehindWhatItGave) {
  const auto slow = [](std::int64_t i) {
    return range(1).map([i](std::int64_t) { return std::this_thread::sleep_for(1ms), i; });
  };
  const auto data = range(300).flat_map(slow);
  std::int64_t given = 0;
  std::shared_ptr<Checkpoint> saved;
  end_while([&](Context&) {
    auto inner = data.start();
    try {
      while (inner.next()) ++given;
    } catch (const Error&) {
      saved = std::make_shared<Checkpoint>(inner.checkpoint());
    }
  });
  ASSERT_NE(saved, nullptr);
  auto rest = data.start({.resume_from = saved});
  EXPECT_EQ(std::ssize(rest_of(rest)), 300 - given);
}

// A source whose passes read a run that all of them share, each an epoch of it.
Dataset<std::int64_t> epochs_of(SharedRun& kept, const std::function<IntegerRun()>& start) {
  const auto make = [&kept, start](Pass pass) {
    return [&kept, start, pass, is_new = true]() mutable -> std::optional<std::int64_t> {
      if (!kept) kept = std::make_shared<IntegerRun>(start());
      if (std::exchange(is_new, false)) kept->epoch(pass.epoch);
      return kept->next();
    };
  };
  return from_generator(make, {.blocks = true});
}

// Its function is asked once for each epoch: whoever leaves one early cuts the run, which is of use in the next one.
TEST(CutRun, ThatAGeneratorKeepsIsWholeInTheNextEpoch) {
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

TEST(CutRun, BeginsAnewThoughItHadNotBegun) {
  const auto data = range(5).then<std::int64_t>(std::make_shared<FailsToOpenOnce>());
  EXPECT_EQ(read_anew(data, [](IntegerRun& run) { EXPECT_ANY_THROW(run.next()); }), "5");
}

TEST(CutRun, BeginsAnewThoughItsReaderHasNotBeenTold) {
  const auto slow = [](std::int64_t x) {
    return range(3).map([x](std::int64_t y) { return std::this_thread::sleep_for(1ms), 3 * x + y; });
  };
  const auto count = [](const std::vector<std::int64_t>& batch) { return std::ssize(batch); };
  const auto data = range(8).flat_map(slow).batch(24).map(count);
  const auto looks = [](IntegerRun& run) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(run.next_for(1us).timed_out());
  };
  EXPECT_EQ(read_anew(data, looks), "1");
}

// They are told of the call around by its own context, too.
TEST(CutRun, OfFunctionsThatAskTheOuterContextIsNotWhole) {
  Texts ends;
  for (int round = 0; round < kRounds; ++round) {
    end_while([&ends](Context& outer) {
      const auto some = [&outer](std::int64_t) {
        std::vector<std::int64_t> list;
        for (std::int64_t i = 0; i < 4 && !outer.is_unwanted(); ++i) {
          std::this_thread::sleep_for(1ms);
          list.push_back(i);
        }
        return list;
      };
      auto inner = range(1000).flat_map(some).batch(4000).start();
      try {
        ends.push_back(std::to_string(inner.next()->size()));
      } catch (const Error& error) {
        ends.emplace_back(to_string(error.code()));
      }
    });
  }
  EXPECT_THAT(ends, ::testing::Each("cancelled"));
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
TEST(CutRun, ThatBeginsAnewKeepsItsOwnRuns) {
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

TEST(CutRun, ThatHadGivenNothingGoesOnBehindItsCheckpoint) {
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
    auto outer = from_generator(make, {.blocks = true}).start({.epochs = 2});
    EXPECT_TRUE(outer.next_for(2ms).timed_out());
    EXPECT_TRUE(eventually([&] { return waits.load(); }));
    outer.epoch(1);
    EXPECT_EQ(rest_of(outer), numbers(6, 10));
  }
  kept.reset();
}

}  // namespace
}  // namespace penstock
