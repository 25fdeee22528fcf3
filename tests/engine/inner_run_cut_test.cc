// Runs that are read in a call of another run, when nobody wants that call any more: what they give until then, and
// whoever goes on with it.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

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

// The source's pass has ended, but the calls that read what it gave are wanted.
TEST(InnerRun, ThatASourceGivesIsReadWholeBehindATake) {
  const auto make = [](Pass) {
    return [left = 100]() mutable -> std::optional<SharedRun> {
      if (left-- == 0) return std::nullopt;
      const auto slow = [](std::int64_t i) { return std::this_thread::sleep_for(2ms), i; };
      return std::make_shared<IntegerRun>(range(20).map(slow).start());
    };
  };
  const auto counts = [](const SharedRun& run) { return std::ssize(rest_of(*run)); };
  auto outer = from_generator(make).take(2).map(counts, 2, {.blocks = true}).start();
  EXPECT_EQ(rest_of(outer), Texts(2, "20"));
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

}  // namespace
}  // namespace penstock
