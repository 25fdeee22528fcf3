#include "lib/base/payload_pool.h"

#include <gtest/gtest.h>
#include <penstock/random.h>
#include <penstock/tensor.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "lib/core/clock.h"
#include "tests/support/under_sanitizer.h"

namespace penstock {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

// The cap follows the live bytes at once: no test has to wait.
constexpr PayloadPoolOptions at_once{.window = std::chrono::nanoseconds{0}};

// A clock that only a test moves, and the core that it says it runs on.
std::chrono::steady_clock::time_point test_time;
int test_core = 0;
constexpr PayloadPoolOptions by_test_time{
    .window = std::chrono::seconds{1}, .now = [] { return test_time; }, .core = [] { return test_core; }};

bool is_aligned(const std::shared_ptr<std::byte>& block, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(block.get()) % alignment == 0;
}

std::size_t idle_cap(const PayloadPoolStats& stats) {
  const std::size_t budget = stats.live + stats.live / 4;
  const std::size_t left = budget > stats.live_mapped ? budget - stats.live_mapped : 0;
  return std::max(16 * mib, left);
}

TEST(PayloadPool, AlignsBlocksOfEverySize) {
  PayloadPool pool;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, 64 * kib, 256 * kib - 1, 256 * kib, 5 * mib + 1}) {
    const auto block = pool.allocate(bytes);
    EXPECT_TRUE(is_aligned(block, bytes < 256 * kib ? 64 : 4096)) << bytes;
    std::memset(block.get(), 0xff, bytes);
  }
}

TEST(PayloadPool, WastesAtMostAnEighthOfABlock) {
  CounterRng rng = make_rng(1, 0, 0, 0);
  for (int i = 0; i < 100'000; ++i) {
    const unsigned bits = rng.uniform(18u, 40u);
    const std::size_t bytes = rng.uniform(std::size_t{1} << bits, std::size_t{2} << bits);
    const std::size_t rounded = PayloadPool::rounded(bytes);
    ASSERT_GE(rounded, bytes);
    ASSERT_LE((rounded - bytes) * 8, rounded) << bytes;
    ASSERT_EQ(PayloadPool::rounded(rounded), rounded);
    ASSERT_EQ(rounded % 4096, 0u);
  }
}

TEST(PayloadPool, LeavesSmallBlocksToTheHeap) {
  PayloadPool pool;
  const auto block = pool.allocate(256 * kib - 1);
  EXPECT_EQ(pool.stats().live, 0u);
}

TEST(PayloadPool, CountsLiveAndPeakBytes) {
  PayloadPool pool;
  auto a = pool.allocate(mib);
  auto b = pool.allocate(3 * mib);
  EXPECT_EQ(pool.stats().live, 4 * mib);
  a.reset();
  b.reset();
  EXPECT_EQ(pool.stats().live, 0u);
  EXPECT_EQ(pool.stats().live_mapped, 0u);
  EXPECT_EQ(pool.stats().peak_live, 4 * mib);
  EXPECT_GE(pool.stats().peak_mapped, 4 * mib);
  EXPECT_GE(pool.stats().idle, 4 * mib);
}

TEST(PayloadPool, ReusesTheNewestBlockOfTheSameSize) {
  PayloadPool pool(by_test_time);
  auto older = pool.allocate(mib);
  auto newer = pool.allocate(mib - 5);
  const std::byte* const at = newer.get();
  older.reset();
  newer.reset();
  const auto again = pool.allocate(mib - 100);
  EXPECT_EQ(again.get(), at);
  EXPECT_EQ(pool.stats().reuses, 1u);
  EXPECT_EQ(pool.stats().allocations, 3u);
  EXPECT_NE(pool.allocate(2 * mib).get(), at);
}

TEST(PayloadPool, PrefersABlockThatWasGivenBackOnTheSameCore) {
  PayloadPool pool(by_test_time);
  auto here = pool.allocate(mib);
  auto elsewhere = pool.allocate(mib);
  const std::byte* const at = here.get();
  here.reset();
  test_core = 1;
  elsewhere.reset();
  test_core = 0;
  EXPECT_EQ(pool.allocate(mib).get(), at);
  test_core = 2;
  EXPECT_EQ(pool.allocate(mib).get(), at) << "the newest, where this core has given none back";
  test_core = 0;
}

TEST(PayloadPool, KeepsACopyOfThePointerAlive) {
  PayloadPool pool;
  auto block = pool.allocate(mib);
  block.get()[0] = std::byte{7};
  const std::shared_ptr<std::byte> copy = block;
  block.reset();
  EXPECT_EQ(copy.get()[0], std::byte{7});
  EXPECT_EQ(pool.stats().live, mib);
}

TEST(PayloadPool, KeepsAtMostTheFloorIdleWhenNothingIsLive) {
  PayloadPool pool(at_once);
  std::vector<std::shared_ptr<std::byte>> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(pool.allocate(mib));
  blocks.clear();
  EXPECT_LE(pool.stats().idle, 16 * mib);
  EXPECT_GE(pool.stats().idle, 14 * mib);
}

TEST(PayloadPool, HoldsItsCapThroughoutARandomLife) {
  PayloadPool pool(at_once);
  CounterRng rng = make_rng(2, 0, 0, 0);
  std::vector<std::shared_ptr<std::byte>> blocks(64);
  for (int i = 0; i < 5000; ++i) {
    auto& block = blocks[rng.uniform(std::size_t{0}, blocks.size())];
    if (block)
      block.reset();
    else
      block = pool.allocate(rng.uniform(256 * kib, 12 * mib));
    const PayloadPoolStats stats = pool.stats();
    ASSERT_LE(stats.idle, idle_cap(stats));
    ASSERT_LE(stats.live_mapped + stats.idle, stats.live + stats.live / 4 + 32 * mib);
  }
}

TEST(PayloadPool, KeepsABatchThatIsFreedAndAllocatedInTurn) {
  PayloadPool pool(by_test_time);
  for (int i = 0; i < 20; ++i) {
    pool.allocate(96 * mib);
    test_time += std::chrono::milliseconds(900);
  }
  EXPECT_EQ(pool.stats().reuses, 19u);
}

TEST(PayloadPool, ForgetsABurstAfterTwoWindows) {
  PayloadPool pool(by_test_time);
  pool.allocate(96 * mib);
  test_time += std::chrono::milliseconds(1900);
  pool.trim();
  EXPECT_GE(pool.stats().idle, 96 * mib);
  test_time += std::chrono::milliseconds(1000);
  pool.trim();
  EXPECT_EQ(pool.stats().idle, 0u);
}

TEST(PayloadPool, GivesBackTheOldestBlocksFirst) {
  PayloadPool pool(by_test_time);
  auto older = pool.allocate(2 * mib);
  auto newer = pool.allocate(4 * mib);
  older.reset();
  newer.reset();
  pool.trim(5 * mib);
  EXPECT_EQ(pool.stats().idle, 4 * mib + 4096);
  pool.trim(0);
  EXPECT_EQ(pool.stats().idle, 0u);
}

TEST(PayloadPool, ThrowsBadAllocForTheImpossible) {
  PayloadPool pool;
  EXPECT_THROW(pool.allocate(std::size_t{1} << 62), std::bad_alloc);
  EXPECT_THROW(pool.allocate(~std::size_t{0}), std::bad_alloc);
  EXPECT_EQ(pool.stats().live, 0u);
  EXPECT_EQ(pool.stats().allocations, 0u);
}

// Each thread frees what another one has allocated, and finds in a block what was written there.
TEST(PayloadPool, IsSharedByThreadsThatFreeEachOthersBlocks) {
  PayloadPool pool;
  std::mutex mutex;
  std::vector<std::shared_ptr<std::byte>> exchange(16);
  std::atomic<int> damaged = 0;
  const auto work = [&](std::uint64_t seed) {
    CounterRng rng = make_rng(seed, 0, 0, 0);
    for (int i = 0; i < 500; ++i) {
      auto block = pool.allocate(rng.uniform(128 * kib, mib));
      const auto mark = static_cast<std::byte>(rng());
      block.get()[0] = mark;
      block.get()[128 * kib - 1] = mark;
      const std::lock_guard lock(mutex);
      std::swap(block, exchange[rng.uniform(0u, 16u)]);
      if (block && block.get()[0] != block.get()[128 * kib - 1]) ++damaged;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 0; seed < 4; ++seed) threads.emplace_back(work, seed);
  }
  exchange.clear();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(pool.stats().live, 0u);
  EXPECT_EQ(pool.stats().live_mapped, 0u);
}

// 32 threads with 8 to 12 MiB each and at most ~72 MB live: under glibc's dynamic threshold this
// peaks at 444 MB.
TEST(PayloadPool, KeepsResidentMemoryNearTheLiveBytes) {
  if (UNDER_SANITIZER) GTEST_SKIP() << "sanitizers keep memory of their own";
  PayloadPool pool;
  const std::size_t before = rss_bytes();
  std::atomic<std::size_t> peak = 0;
  std::mutex few_at_a_time[7];
  const auto work = [&](std::uint64_t seed) {
    CounterRng rng = make_rng(seed, 0, 0, 0);
    for (int i = 0; i < 12; ++i) {
      const std::lock_guard lock(few_at_a_time[seed % 7]);
      const std::size_t bytes = rng.uniform(8 * mib, 12 * mib);
      const auto block = pool.allocate(bytes);
      std::memset(block.get(), 1, bytes);
      const std::size_t now = rss_bytes();
      std::size_t seen = peak;
      while (now > seen && !peak.compare_exchange_weak(seen, now)) {
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 0; seed < 32; ++seed) threads.emplace_back(work, seed);
  }
  const std::size_t live = pool.stats().peak_live;
  EXPECT_LE(peak - before, live + live / 4 + 32 * mib);
}

TEST(AllocatePayload, UsesTheProcessWidePool) {
  const std::size_t before = payload_pool().stats().live;
  const Tensor tensor(DType::u8, {1024, 1024});
  EXPECT_EQ(payload_pool().stats().live, before + mib);
}

}  // namespace
}  // namespace penstock
