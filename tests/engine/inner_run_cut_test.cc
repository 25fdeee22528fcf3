// Runs that are read in a call of another run, when nobody wants that call any more: what they give until then, and
// whoever goes on with it.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/support.h"

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
IntegerRun slow_run() {
  return range(1000)
      .flat_map(
          [](std::int64_t) { return range(4).map([](std::int64_t i) { return std::this_thread::sleep_for(1ms), i; }); })
      .start();
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

TEST(CutRun, IsNotWholeToTheRunInWhoseFunctionItIsRead) {
  Texts ends;
  for (int round = 0; round < kRounds; ++round)
    end_while([&ends](Context& context) {
      const auto first = std::make_shared<IntegerRun>(slow_run());
      const auto sums = [first](std::int64_t) {
        std::int64_t count = 0;
        while (count < 200 && first->next()) ++count;
        return count;
      };
      auto second = range(20).map(sums).start();
      ends.push_back(end_of(second, 200));
      EXPECT_TRUE(context.is_unwanted());
    });
  EXPECT_THAT(ends, ::testing::Each("cancelled"));
}

TEST(CutRun, IsNotWholeToOneThatLeavesItsErrorsOut) {
  Texts ends;
  for (int round = 0; round < kRounds; ++round)
    end_while([&ends](Context& context) {
      const auto first = std::make_shared<IntegerRun>(slow_run());
      const auto sums = [first](std::int64_t) {
        for (int i = 0; i < 200; ++i) first->next().value();
        return std::int64_t{200};
      };
      auto second = range(20).map(sums).ignore_errors().start();
      ends.push_back(end_of(second, 200));
      EXPECT_TRUE(context.is_unwanted());
    });
  EXPECT_THAT(ends, ::testing::Each("cancelled"));
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
  std::uint32_t epochs = 0;
  const auto make = [&](Pass) {
    return [&, is_new = true]() mutable -> std::optional<std::int64_t> {
      if (!kept) kept = std::make_shared<IntegerRun>(range(6).map(waits_in_the_first).start({.epochs = 10}));
      if (std::exchange(is_new, false)) kept->epoch(epochs++);
      return kept->next();
    };
  };
  auto outer = from_generator(make, {.blocks = true}).start({.epochs = 2});
  EXPECT_EQ(outer.next(), 0);
  EXPECT_TRUE(eventually([&] { return waits.load(); }));
  outer.epoch(1);
  EXPECT_EQ(rest_of(outer), numbers(0, 6));
  kept.reset();
}

// A call that nobody wants any more reads a kept run, and so cuts it; a wanted one begins it anew. `first` reads, and
// returns what it was told; `run` begins in there.
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

// A function of an inner run reserves for the call around it: what is broken off is not the call of its own run.
TEST(InnerRun, IsNotBrokenOffForTheMemoryOfTheCallThatReadsIt) {
  std::atomic<int> calls{0};
  const auto reserves = [&calls](const std::int64_t& value, Context& outer) {
    const auto holds = [&](const std::int64_t& i) {
      ++calls;
      outer.reserve(400'000);
      std::this_thread::sleep_for(20ms);
      return i;
    };
    std::int64_t sum = value;
    for (const std::int64_t i : range(2).map(holds)) sum += i;
    return sum;
  };
  const auto data = range(12).map(reserves, 4, {.blocks = true});
  EXPECT_EQ(read(data, {.memory_bytes = 1'000'000}), numbers(1, 13));
  EXPECT_EQ(calls, 24);
}

// A struct whose size is told by reading a run that waits for its stop token.
std::atomic<bool> is_measured{false};
struct Measured {
  std::int64_t value = 0;
};
std::size_t bytes_of(const Measured& element) {
  const auto waits = [](std::int64_t, Context& context) {
    is_measured = true;
    while (!context.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
    return std::size_t{8};
  };
  return range(element.value + 1).map(waits).start().next().value_or(8);
}

// Ends with its block, or the test hangs.
TEST(InnerRun, ThatTellsWhatAnElementHoldsEndsWithTheOuterRun) {
  auto run = range(3).map([](std::int64_t i) { return Measured{i}; }).start();
  EXPECT_TRUE(run.next_for(5ms).timed_out());
  EXPECT_TRUE(eventually([] { return is_measured.load(); }));
}

}  // namespace
}  // namespace penstock
