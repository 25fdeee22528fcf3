// cache: what is before it runs once.
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using namespace testing;

// Numbers from 0 on, made by a function that counts its calls.
class Counted {
 public:
  Dataset<std::int64_t> numbers(std::int64_t count) {
    return range(count).map([this](std::int64_t x) {
      ++calls_;
      return x;
    });
  }
  std::int64_t calls() const { return calls_; }

 private:
  std::atomic<std::int64_t> calls_{0};
};

const std::vector<RunOptions> kWays{{}, {.serial = true}, {.threads = 3}, {.memory_bytes = 2000}};

template <class T> Texts all_of(const Dataset<T>& dataset, std::uint32_t count, RunOptions options = {}) {
  options.epochs = count;
  auto run = dataset.start(options);
  Texts texts;
  for (std::uint32_t epoch = 0; epoch < count; ++epoch) {
    run.epoch(epoch);
    for (auto text = next_text(run); text != "end"; text = next_text(run)) texts.push_back(text);
  }
  return texts;
}
template <class T> std::string epochs_of(const Dataset<T>& dataset, std::uint32_t count, RunOptions options = {}) {
  return text_of(all_of(dataset, count, options));
}

// Numbers of tfdata.md, K-01 to K-05, which has them from runs of TensorFlow.
TEST(Cache, CallsNothingBeforeItInLaterPassesAndEpochs) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    const auto dataset = counted.numbers(10).cache().repeat(2);
    EXPECT_EQ(epochs_of(dataset, 2, options), text_of(read(range(10).repeat(4))));
    EXPECT_EQ(counted.calls(), 10);
    EXPECT_EQ(epochs_of(dataset.take(3), 1, options), "[0 1 2]") << "another run of another dataset";
    EXPECT_EQ(counted.calls(), 10);
  }
}

TEST(Cache, GoesOnWhereAPassThatEndedEarlyHasCome) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    const auto cached = counted.numbers(10).cache();
    EXPECT_EQ(epochs_of(cached.take(5).repeat(2), 1, options), "[0 1 2 3 4 0 1 2 3 4]");
    EXPECT_EQ(epochs_of(cached, 2, options), text_of(read(range(10).repeat(2))));
    EXPECT_LE(counted.calls(), 20) << "the second run begins anew";
  }
}

TEST(Cache, GivesTwoRunsAtOnceTheSame) {
  Counted counted;
  const auto dataset = counted.numbers(100).cache();
  auto a = dataset.repeat(2).start(), b = dataset.repeat(2).start();
  for (std::int64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(a.next(), i % 100);
    EXPECT_EQ(b.next(), i % 100);
  }
  EXPECT_EQ(a.next(), std::nullopt);
  EXPECT_EQ(b.next(), std::nullopt);
  EXPECT_LE(counted.calls(), 300) << "one makes it, and the other one reads through both passes at most";
}

// It was read as if there were no cache before, and is in the middle of its input.
TEST(Cache, BeginsAnewWhereAnotherRunLeavesWhatItHasBegun) {
  const auto dataset = range(10).map([](std::int64_t x) { return x; }).cache();
  auto second = dataset.take(4).repeat(4).start({.serial = true});
  {
    auto first = dataset.start({.serial = true});
    EXPECT_EQ(first.next(), 0);
    EXPECT_EQ(second.next(), 0);
  }
  Texts rest;
  for (auto text = next_text(second); text != "end"; text = next_text(second)) rest.push_back(text);
  EXPECT_EQ(text_of(rest), "[1 2 3 0 1 2 3 0 1 2 3 0 1 2 3]");
  EXPECT_EQ(epochs_of(dataset, 2), "[0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9]");
}

TEST(Cache, OfNothingIsEmpty) {
  for (const RunOptions& options : kWays) {
    EXPECT_EQ(epochs_of(range(0).cache(), 2, options), "[]");
    EXPECT_EQ(epochs_of(range(5).repeat(0).cache().repeat(2), 2, options), "[]");
  }
}

TEST(Cache, KeepsErrorsInTheirPlaces) {
  for (const RunOptions& options : kWays) {
    std::atomic<int> calls{0};
    const auto dataset = range(4).map([&calls](std::int64_t x) {
      ++calls;
      if (x == 2) throw std::runtime_error("two");
      return x;
    });
    EXPECT_EQ(epochs_of(dataset.cache(), 3, options), "[0 1 x2 3 0 1 x2 3 0 1 x2 3]");
    EXPECT_EQ(calls, 4);
  }
}

TEST(Cache, FixesTheOrderOfAShuffleBeforeIt) {
  const auto dataset = range(20).map([](std::int64_t x) { return x; }).shuffle(20, {.seed = 7});
  const auto first = read(dataset);
  auto twice = first;
  twice.insert(twice.end(), first.begin(), first.end());
  for (const RunOptions& options : kWays) EXPECT_EQ(epochs_of(dataset.cache(), 2, options), text_of(twice));
  EXPECT_NE(epochs_of(dataset, 2), text_of(twice)) << "without it each epoch has another one";
}

// As for any element, by epoch and pass.
TEST(Cache, LetsFunctionsBehindItDrawAnewInEachPass) {
  const auto drawn = [](std::int64_t, Context& context) { return std::int64_t{context.rng()()}; };
  const Texts values = all_of(range(3).map([](std::int64_t x) { return x; }).cache().map(drawn), 2);
  ASSERT_EQ(values.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(values[i], values[i + 3]);
}

TEST(Cache, HoldsAllRoundsOfARepeatBeforeIt) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    EXPECT_EQ(epochs_of(counted.numbers(3).repeat(2).cache().repeat(2), 2, options), text_of(read(range(3).repeat(8))));
    EXPECT_EQ(counted.calls(), 6);
  }
}

TEST(Cache, OfATreeRunsEachBranchOnce) {
  for (const RunOptions& options : kWays) {
    Counted a, b;
    const auto pairs = zip(a.numbers(5), b.numbers(7).shuffle(7, {.seed = 1})).cache();
    const auto sums = pairs.map([](std::int64_t x, std::int64_t y) { return 10 * x + y; });
    const auto once = epochs_of(sums, 1, options);
    EXPECT_EQ(epochs_of(sums.concatenate(sums), 1, options), once.substr(0, once.size() - 1) + " " + once.substr(1));
    EXPECT_EQ(a.calls(), 5);
    EXPECT_LE(b.calls(), 7);
  }
}

TEST(Cache, StandsBehindAnotherOne) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    std::atomic<int> between{0};
    const auto dataset = counted.numbers(5).cache().repeat(2).map([&between](std::int64_t x) {
      ++between;
      return x;
    });
    EXPECT_EQ(epochs_of(dataset.cache().repeat(2), 2, options), text_of(read(range(5).repeat(8))));
    EXPECT_EQ(counted.calls(), 5);
    EXPECT_EQ(between, 10);
  }
}

TEST(Cache, InsideAnInterleaveIsOfEachDataset) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    const auto rows = [&counted](std::int64_t x) { return counted.numbers(x).cache().repeat(2); };
    EXPECT_EQ(epochs_of(range(4).interleave(rows, {.cycle_length = 1}), 1, options), "[0 0 0 1 0 1 0 1 2 0 1 2]");
    EXPECT_EQ(counted.calls(), 6);
  }
}

TEST(Cache, MadeOutsideOfAnInterleaveIsSharedByItsDatasets) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    const auto cached = counted.numbers(3).cache();
    const auto rows = range(4).interleave([&cached](std::int64_t) { return cached; }, {.cycle_length = 1});
    EXPECT_EQ(epochs_of(rows, 2, options), text_of(read(range(3).repeat(8))));
    const std::int64_t calls = counted.calls();
    EXPECT_LE(calls, 2 * 4 * 3) << "datasets that are read at once, the next epoch's among them, may each begin it";
    EXPECT_EQ(epochs_of(rows, 1, options), text_of(read(range(3).repeat(4))));
    EXPECT_EQ(counted.calls(), calls) << "all of it is there";
  }
}

// ------------------------------------------------------------------------------------------------ where it ends

TEST(Cache, WithoutRoomRunsWhatIsBeforeItInEachPass) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    const auto dataset = counted.numbers(50).cache({.max_bytes = 500}).repeat(2);
    EXPECT_EQ(epochs_of(dataset, 2, options), text_of(read(range(50).repeat(4))));
    EXPECT_EQ(counted.calls(), 200);
  }
}

TEST(Cache, WithoutRoomCutsAPassOfWhatIsBeforeIt) {
  for (const RunOptions& options : kWays) {
    Counted counted;
    const auto dataset = counted.numbers(1000).repeat(2).cache({.max_bytes = 500}).take(20).repeat(3);
    EXPECT_EQ(epochs_of(dataset, 2, options), text_of(read(range(20).repeat(6))));
  }
}

TEST(Cache, WithoutRoomStillPassesOnWhatItHas) {
  std::atomic<bool> has_copied{false};
  struct NotCopied {
    explicit NotCopied(std::int64_t x, std::atomic<bool>& copied) : value(x), has_copied(&copied) {}
    NotCopied(const NotCopied& other) : value(other.value), has_copied(other.has_copied) {
      *has_copied = true;
      throw std::runtime_error("not to be copied");
    }
    NotCopied(NotCopied&&) noexcept = default;
    NotCopied& operator=(NotCopied&&) noexcept = default;
    std::int64_t value;
    std::atomic<bool>* has_copied;
  };
  const auto dataset = range(3)
                           .map([&has_copied](std::int64_t x) { return NotCopied(x, has_copied); })
                           .cache()
                           .map([](const NotCopied& x) { return x.value; });
  EXPECT_EQ(epochs_of(dataset, 2), "[0 1 2 0 1 2]");
  EXPECT_TRUE(has_copied);
}

// Behind five elements it waits a while. If it is told to stop meanwhile it ends, before its end.
Dataset<std::int64_t> ten_with_a_wait() {
  return from_generator([](Pass) {
    return [i = std::int64_t{0}](Context& context) mutable -> std::optional<std::int64_t> {
      if (i < 5) return i++;
      if (i == 10) return std::nullopt;
      if (i++ == 5) {
        for (int tries = 0; tries < 50 && !context.stop_token().stop_requested(); ++tries)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (context.stop_token().stop_requested()) return std::nullopt;
      }
      return i - 1;
    };
  });
}

TEST(Cache, TakesNoEndOfARunForTheEndOfItsInput) {
  const auto cached = ten_with_a_wait().cache();
  for (int left = 0; left < 3; ++left) {
    auto run = cached.start();
    EXPECT_EQ(run.next(), 0);
  }
  EXPECT_EQ(text_of(read(cached)), "[0 1 2 3 4 5 6 7 8 9]");
}

TEST(Cache, TakesNoEndOfAnUnwantedDatasetForTheEndOfItsInput) {
  const auto cached = ten_with_a_wait().cache();
  for (int cut = 0; cut < 3; ++cut) {
    const auto rows = range(1).interleave([&cached](std::int64_t) { return cached; }).take(3);
    EXPECT_EQ(text_of(read(rows)), "[0 1 2]");
  }
  EXPECT_EQ(text_of(read(cached)), "[0 1 2 3 4 5 6 7 8 9]");
}

// Nor what ops give because of it.
TEST(Cache, RemembersNothingOfADatasetThatIsToldToStop) {
  const auto cached = ten_with_a_wait().batch(3).cache();
  for (int cut = 0; cut < 3; ++cut) {
    for (auto&& batch : range(1).interleave([&cached](std::int64_t) { return cached; }).take(1)) EXPECT_EQ(batch[2], 2);
  }
  EXPECT_EQ(text_of(read(cached)), "[[0 1 2] [3 4 5] [6 7 8] [9]]");
}

// Tensors share their memory when they are copied.
TEST(Cache, GivesWhatFunctionsBehindItMayChange) {
  const auto changed = [](Tensor tensor) {
    for (std::uint8_t& value : tensor.values<std::uint8_t>()) value = static_cast<std::uint8_t>(value + 1);
    return std::int64_t{tensor.values<std::uint8_t>()[0]};
  };
  const auto made = [](std::int64_t x) {
    Tensor tensor(DType::u8, {4});
    std::ranges::fill(tensor.values<std::uint8_t>(), static_cast<std::uint8_t>(10 * x));
    return tensor;
  };
  EXPECT_EQ(epochs_of(range(3).map(made).cache().map(changed), 3), "[1 11 21 1 11 21 1 11 21]");
  const auto first_row = [changed](std::tuple<std::vector<Tensor>, int> row) { return changed(std::get<0>(row)[0]); };
  const auto row = [made](std::int64_t x) { return std::tuple(std::vector{made(x), made(x)}, 1); };
  EXPECT_EQ(epochs_of(range(3).map(row).cache().map(first_row), 2), "[1 11 21 1 11 21]");
  const auto pair = [made](std::int64_t x) { return std::array{made(x), made(x)}; };
  const auto first = [changed](std::array<Tensor, 2> both) { return changed(both[0]); };
  EXPECT_EQ(epochs_of(range(3).map(pair).cache().map(first), 2), "[1 11 21 1 11 21]");
}

TEST(Cache, LetsRoundsOfARepeatBeforeItDrawDifferently) {
  const auto drawn = [](std::int64_t, Context& context) { return std::int64_t{context.rng()()}; };
  const Texts values = all_of(range(3).map([](std::int64_t x) { return x; }).repeat(2).cache().map(drawn), 1);
  ASSERT_EQ(values.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(values[i], values[i + 3]);
}

// Which of them fills it hangs on the time.
TEST(Cache, KeepsTheSameWhicheverOfItsPlacesItIsFilledFrom) {
  const auto drawn = [](std::int64_t, std::int64_t, Context& context) { return std::int64_t{context.rng()()}; };
  const auto are_equal = [](std::int64_t a, std::int64_t b) { return std::int64_t{a == b}; };
  const auto cached = zip(range(50), range(50).prefetch()).map(drawn).cache();
  for (const RunOptions& options : kWays) {
    for (const std::string& text : all_of(zip(cached, cached).map(are_equal), 2, options)) ASSERT_EQ(text, "1");
  }
}

// Stamps are the cache's own: its filler may have been another pipeline.
TEST(Cache, LetsFunctionsBehindItDrawTheSameWhoeverHasFilledIt) {
  const auto drawn = [](std::int64_t, Context& context) { return std::int64_t{context.rng()()}; };
  const auto twice = [] { return range(5).concatenate(range(5).prefetch()).cache(); };
  const auto among_others = [drawn](const Dataset<std::int64_t>& cached) {
    const auto opened = [cached](std::int64_t) { return counter().take(3).concatenate(cached); };
    return std::vector{range(3).prefetch().concatenate(cached).map(drawn),
                       range(2).interleave(opened, {.cycle_length = 2}).map(drawn)};
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const auto filled = twice(), empty = twice();
    EXPECT_EQ(epochs_of(filled, 1), "[0 1 2 3 4 0 1 2 3 4]");
    EXPECT_EQ(all_of(among_others(filled)[i], 1), all_of(among_others(empty)[i], 1));
  }
}

// A pass of which nothing is read wants nothing of its input.
TEST(Cache, InsideAnInterleaveBeginsItsInputOnceWherePassesWereEmpty) {
  const auto left = from_generator([](Pass pass) {
    return [left = pass.pass == 0 ? 0 : 6]() mutable -> std::optional<std::int64_t> {
      return left-- > 0 ? std::optional<std::int64_t>(0) : std::nullopt;
    };
  });
  for (const std::int64_t bytes : {0, 1}) {
    const auto rows = [&](std::int64_t) {
      return zip(left, range(6).map([](std::int64_t x) { return x; }).cache({.max_bytes = bytes}))
          .repeat(3)
          .map([](std::int64_t, std::int64_t x) { return x; });
    };
    EXPECT_EQ(text_of(read(range(1).interleave(rows))), "[0 1 2 3 4 5 0 1 2 3 4 5]");
  }
}

TEST(Cache, EndsEarlyWhereItsEpochIsLeft) {
  Counted counted;
  auto run = counted.numbers(100).cache().start();
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    run.epoch(epoch);
    for (std::int64_t i = 0; i < 10 + 20 * epoch; ++i) EXPECT_EQ(run.next(), i);
  }
  EXPECT_LE(counted.calls(), 100);
}

TEST(Cache, RefusesANegativeNumberOfBytes) {
  EXPECT_ERROR(range(3).cache({.max_bytes = -1}), ErrorCode::invalid_argument, "cache: max_bytes must be 0");
}

TEST(Cache, IsResumedAtAnyElement) {
  const auto dataset = range(10).map([](std::int64_t x) { return x; }).shuffle(10, {.seed = 3}).cache().repeat(2);
  const Texts all = read(dataset);
  auto run = dataset.start({.epochs = 2});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Checkpoint here = run.checkpoint();
    const auto fresh = range(10).map([](std::int64_t x) { return x; }).shuffle(10, {.seed = 3}).cache().repeat(2);
    auto resumed = fresh.start({.epochs = 2, .resume_from = std::make_shared<Checkpoint>(here)});
    for (std::size_t k = i; k < all.size(); ++k) ASSERT_EQ(next_text(resumed), all[k]) << "from " << i;
    EXPECT_EQ(next_text(run), all[i]);
  }
}

}  // namespace
}  // namespace penstock
