// What users' functions and sources wait for: buffers of a pool that the consumer gives back, answers that it gives.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// Buffers of a user's. Whoever gets none within any patience gets an exception, so that a hang is a failure.
class Pool {
 public:
  explicit Pool(std::int64_t size) : free_(size) {}
  std::shared_ptr<std::int64_t> take(std::int64_t value) {
    std::unique_lock lock(mutex_);
    if (!given_back_.wait_for(lock, kPatience, [this] { return free_ > 0; }))
      throw std::runtime_error("no buffer came back");
    --free_;
    return {new std::int64_t(value),
            [this](std::int64_t* buffer) { give_back(std::unique_ptr<std::int64_t>(buffer)); }};
  }

 private:
  void give_back(std::unique_ptr<std::int64_t>) {
    {
      std::lock_guard lock(mutex_);
      ++free_;
    }
    given_back_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable given_back_;
  std::int64_t free_;
};

struct PoolCase {
  std::int64_t buffers;
  Tunable parallelism;
  Order order;
  bool tune;
  int threads = 0;
};

// All elements come, and in order where that is kept.
void expect_all_behind(Tunable prefetch, const PoolCase& pooled, std::int64_t elements) {
  Pool pool(pooled.buffers);
  auto run =
      range(elements)
          .map([&pool](std::int64_t value) { return pool.take(value); }, pooled.parallelism, {.order = pooled.order})
          .prefetch(prefetch)
          .start({.threads = pooled.threads, .tune = pooled.tune});
  std::int64_t count = 0, sum = 0;
  bool in_order = true;
  while (auto buffer = run.next()) {
    in_order = in_order && **buffer == count;
    sum += **buffer;
    ++count;
  }
  EXPECT_EQ(count, elements);
  EXPECT_EQ(sum, elements * (elements - 1) / 2);
  EXPECT_TRUE(in_order || pooled.order == Order::arbitrary);
}

// Behind a prefetch of the user's cheap calls begin few elements at a time; else many.
void expect_all(const PoolCase& pooled, std::int64_t elements) {
  for (const Tunable prefetch : {Tunable(2), AUTOTUNE}) expect_all_behind(prefetch, pooled, elements);
}

TEST(PoolOfTheUsers, OfAnySizeIsEnoughForOneCallAtATime) {
  for (const bool tune : {false, true}) {
    for (std::int64_t buffers : {1, 2, 8, 32, 128}) expect_all({buffers, 1, Order::kept, tune}, 2000);
  }
}

TEST(PoolOfTheUsers, OfAnySizeIsEnoughWhereOrderIsArbitrary) {
  for (const bool tune : {false, true}) {
    for (std::int64_t buffers : {1, 3}) {
      for (std::int64_t calls : {2, 8}) expect_all({buffers, calls, Order::arbitrary, tune}, 2000);
    }
  }
}

TEST(PoolOfTheUsers, IsEnoughWhereCallsAreFixedFromTwiceTheirNumberOn) {
  for (const bool tune : {false, true}) {
    for (std::int64_t calls : {2, 8}) expect_all({2 * calls + 2 + 2, calls, Order::kept, tune}, 3000);
  }
}

TEST(PoolOfTheUsers, MayBeWaitedForWithEveryCpuPermitTaken) {
  for (const bool tune : {false, true}) {
    Pool pool(3);
    auto run = range(300)
                   .map([&pool](std::int64_t value) { return pool.take(value); }, 1)
                   .map([](const std::shared_ptr<std::int64_t>& buffer) { return buffer; })
                   .start({.threads = 1, .tune = tune});
    std::int64_t count = 0;
    while (run.next()) ++count;
    EXPECT_EQ(count, 300);
  }
}

// The consumer waits for the other branch, and holds what the call of the first one waits for.
TEST(PoolOfTheUsers, OfOneForEachBranchIsEnoughThoughCallsThatWaitHaveEveryCpuPermit) {
  for (const bool tune : {false, true}) {
    Pool of_first(1), of_second(1);
    const auto from = [](Pool& pool) {
      return range(60).map([&pool](std::int64_t value) { return pool.take(value); },
                           {.parallelism = 1, .blocks = false});
    };
    const auto choices = range(60).map([](std::int64_t index) { return index / 13 % 2; });
    auto run = choose_from(std::vector{from(of_first), from(of_second)}, choices).start({.threads = 1, .tune = tune});
    std::int64_t count = 0;
    while (run.next()) ++count;
    EXPECT_EQ(count, 60);
  }
}

// What is done holds buffers that calls under way wait for.
TEST(PoolOfTheUsers, IsWaitedForByNobodyWhenTheRunIsLeft) {
  for (const PoolCase& pooled : {PoolCase{1, 1, Order::kept, false},
                                 {1, 1, Order::kept, true},
                                 {2, 4, Order::arbitrary, false},
                                 {8, 4, Order::kept, false}}) {
    std::atomic<std::int64_t> failed{0};
    Pool pool(pooled.buffers);
    {
      const auto take = [&](std::int64_t value) {
        try {
          return pool.take(value);
        } catch (const std::exception&) {
          ++failed;
          throw;
        }
      };
      auto run = range(1'000'000).map(take, pooled.parallelism, {.order = pooled.order}).start({.tune = pooled.tune});
      for (int i = 0; i < 10; ++i) run.next();
      std::this_thread::sleep_for(20ms);  // calls begin that wait
    }
    EXPECT_EQ(failed, 0) << pooled.buffers;
  }
}

using Buffers = Dataset<std::shared_ptr<std::int64_t>>;

// A pool that waits for as long as the test does, and tells how many calls it has left without a buffer.
struct CountedPool {
  explicit CountedPool(std::int64_t size) : pool(size) {}
  Buffers buffers() {
    const auto take = [this](std::int64_t value) {
      ++calls;
      try {
        return pool.take(value);
      } catch (const std::exception&) {
        ++failed;
        throw;
      }
    };
    return range(100).map(take, {.parallelism = 1, .blocks = true});
  }

  Pool pool;
  std::atomic<std::int64_t> calls{0}, failed{0};
};

// The second branch is read ahead, and nobody takes what it gave.
TEST(PoolOfTheUsers, IsWaitedForByNobodyWhenARunIsLeftWhoseMergeHoldsTheBuffers) {
  CountedPool of_first(1), of_second(1);
  {
    auto run = of_first.buffers().concatenate(of_second.buffers()).start();
    EXPECT_EQ(**run.next(), 0);
    EXPECT_TRUE(eventually([&] { return of_second.calls == 2; }));
  }
  EXPECT_EQ(of_first.failed + of_second.failed, 0);
}

// Results in arbitrary order do not pass the end of a pass.
TEST(PoolOfTheUsers, OfOneIsEnoughInArbitraryOrderAcrossPasses) {
  for (const std::int64_t buffers : {1, 3}) {
    Pool pool(buffers);
    const auto take = [&pool](std::int64_t value) { return pool.take(value); };
    auto run = range(7).repeat(100).map(take, 4, {.order = Order::arbitrary}).start({.threads = 4, .epochs = 3});
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      std::int64_t count = 0;
      for (auto&& buffer : run.epoch(epoch)) count += buffer != nullptr;
      EXPECT_EQ(count, 700);
    }
  }
}

// One call waits, and so do the calls of the stage before it: no CPU permit is left, and results that are there already
// need none.
TEST(PoolOfTheUsers, HoldsUpNoResultsThatAreThereAlready) {
  for (const bool arbitrary : {false, true}) {
    const int calls = arbitrary ? 2 : 1;
    Pool pool(1);
    const auto list = [&pool](std::int64_t value) {
      return std::vector<std::shared_ptr<std::int64_t>>(5000, pool.take(value));
    };
    auto run = range(4)
                   .flat_map(list, calls, {.order = arbitrary ? Order::arbitrary : Order::kept})
                   .start({.threads = calls, .tune = false});
    std::int64_t count = 0;
    while (run.next()) ++count;
    EXPECT_EQ(count, 4 * 5000);
  }
}

// No element begins that is twice the number of calls or more behind the oldest one that is not done.
TEST(PoolOfTheUsers, IsNotDrawnOnFurtherAheadThanTheHeaderSays) {
  std::mutex mutex;
  std::int64_t oldest = 0, furthest = 0;
  std::set<std::int64_t> done;
  const auto note = [&](std::int64_t value) {
    {
      std::lock_guard lock(mutex);
      furthest = std::max(furthest, value - oldest);
    }
    if (value % 7 == 0) std::this_thread::yield();
    std::lock_guard lock(mutex);
    done.insert(value);
    while (done.erase(oldest) > 0) ++oldest;
    return value;
  };
  auto run = range(20'000).map(note, 2).start({.threads = 2});
  while (run.next()) {
  }
  EXPECT_LT(furthest, 4);
}

// The consumer's answer to an element lets the generator make the one that is `ahead` behind it.
TEST(FedGenerator, MayBeAnyNumberOfElementsAhead) {
  for (const bool tune : {false, true}) {
    for (std::int64_t ahead : {1, 2, 7, 100}) {
      std::mutex mutex;
      std::condition_variable answered;
      std::int64_t allowed = ahead;
      auto run = from_generator([&, made = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
                   if (made == 2000) return std::nullopt;
                   std::unique_lock lock(mutex);
                   if (!answered.wait_for(lock, kPatience, [&] { return made < allowed; }))
                     throw std::runtime_error("no answer came");
                   return made++;
                 }).start({.tune = tune});
      for (std::int64_t i = 0; i < 2000; ++i) {
        ASSERT_EQ(run.next(), i);
        {
          std::lock_guard lock(mutex);
          ++allowed;
        }
        answered.notify_one();
      }
    }
  }
}

}  // namespace
}  // namespace penstock
