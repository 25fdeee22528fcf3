#include "lib/base/block_pool.h"

#include <gtest/gtest.h>
#include <penstock/detail/pooled.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/poison.h"

namespace penstock {
namespace {

constexpr std::size_t KiB = 1024;

std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

TEST(BlockSizes, HoldWhatIsAskedForAndWasteLittle) {
  std::size_t before = 0;
  for (std::size_t bytes = 0; bytes <= BlockSizes::largest; bytes += bytes < 5000 ? 1 : 61) {
    const std::size_t size_class = BlockSizes::class_of(bytes);
    const std::size_t size = BlockSizes::bytes_of(size_class);
    ASSERT_LT(size_class, BlockSizes::count);
    ASSERT_GE(size, bytes);
    ASSERT_LE(size, std::max(bytes + bytes / 4 + 1, bytes + 64)) << bytes;
    ASSERT_EQ(size % BlockSizes::alignment, 0u);
    ASSERT_EQ(BlockSizes::class_of(size), size_class);
    ASSERT_GE(size_class, before);
    before = size_class;
  }
  EXPECT_EQ(BlockSizes::bytes_of(BlockSizes::class_of(BlockSizes::largest)), BlockSizes::largest);
  EXPECT_EQ(BlockSizes::class_of(BlockSizes::largest), BlockSizes::count - 1);
}

TEST(BlockCache, GivesABlockOutAgain) {
  BlockPool pool;
  for (const std::size_t bytes : std::vector<std::size_t>{0, 1, 64, 100, 4096, 5000, 300'000}) {
    BlockCache cache(pool);
    void* const first = cache.take(bytes);
    EXPECT_EQ(address(first) % BlockSizes::alignment, 0u);
    std::memset(first, 1, bytes);
    cache.give_back(first, bytes);
    EXPECT_EQ(cache.take(bytes), first);
    cache.give_back(first, bytes);
  }
  EXPECT_LE(pool.stats().from_heap, 6u);  // 0 and 1 and 64 bytes are one class
}

TEST(BlockCache, GivesNoBlockTwice) {
  BlockPool pool;
  BlockCache cache(pool);
  for (const int round : {1, 2, 3}) {
    std::vector<void*> blocks;
    for (int i = 0; i < 1000; ++i) {
      blocks.push_back(cache.take(100));
      std::memset(blocks.back(), round, 100);
    }
    std::vector<void*> sorted = blocks;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
    for (void* block : blocks) cache.give_back(block, 100);
  }
  EXPECT_EQ(pool.stats().from_heap, 1000u);
}

TEST(BlockCache, KeepsNoMoreThanItsShareOfAClass) {
  BlockPool pool;
  BlockCache cache(pool);
  std::vector<void*> blocks(1000);
  for (void*& block : blocks) block = cache.take(64);
  for (void* block : blocks) cache.give_back(block, 64);
  EXPECT_GE(pool.stats().idle_bytes, 1000 * 64 - 8 * KiB);
}

TEST(BlockCache, LeavesItsBlocksToOthers) {
  BlockPool pool;
  std::vector<void*> blocks(50);
  {
    BlockCache cache(pool);
    for (void*& block : blocks) block = cache.take(200);
    for (void* block : blocks) cache.give_back(block, 200);
  }
  EXPECT_EQ(pool.stats().idle_bytes, 50 * 256u);
  BlockCache other(pool);
  for (void*& block : blocks) block = other.take(200);
  EXPECT_EQ(pool.stats().from_heap, 50u);
  for (void* block : blocks) other.give_back(block, 200);
}

TEST(BlockPool, KeepsNoMoreIdleThanItMay) {
  BlockPool pool({.idle_bytes = 64 * KiB});
  BlockCache cache(pool);
  std::vector<void*> blocks(100);
  for (void*& block : blocks) block = cache.take(10 * KiB);
  for (void* block : blocks) {
    cache.give_back(block, 10 * KiB);
    EXPECT_LE(pool.stats().idle_bytes, 64 * KiB);
  }
  EXPECT_EQ(pool.stats().to_heap, 94u);
}

TEST(BlockPool, KeepsNothingIfItMayNot) {
  BlockPool pool({.idle_bytes = 0});
  BlockCache cache(pool);
  cache.give_back(cache.take(10 * KiB), 10 * KiB);
  EXPECT_EQ(pool.stats().idle_bytes, 0u);
}

TEST(BlockPool, LetsGoOfWhatItHasMostOf) {
  BlockPool pool({.idle_bytes = 100 * KiB});
  BlockCache cache(pool);
  void* const rare = cache.take(5 * KiB);
  std::vector<void*> many(30);
  for (void*& block : many) block = cache.take(10 * KiB);
  cache.give_back(rare, 5 * KiB);
  for (void* block : many) cache.give_back(block, 10 * KiB);
  EXPECT_EQ(cache.take(5 * KiB), rare);
  cache.give_back(rare, 5 * KiB);
}

// One thread takes, another gives back, as stages do: nothing is lost, and nothing is given out twice.
TEST(BlockPool, ServesThreadsThatGiveBackWhatOthersTook) {
  BlockPool pool;
  std::mutex mutex;
  std::deque<unsigned char*> on_the_way;
  bool ended = false;
  constexpr int rounds = 20'000;
  constexpr std::size_t most_on_the_way = 100;
  std::thread taker([&] {
    BlockCache cache(pool);
    for (int i = 0; i < rounds;) {
      const std::lock_guard lock(mutex);
      if (on_the_way.size() >= most_on_the_way) continue;
      auto* const block = static_cast<unsigned char*>(cache.take(128));
      std::memset(block, i % 251, 128);
      on_the_way.push_back(block);
      ++i;
    }
    const std::lock_guard lock(mutex);
    ended = true;
  });
  int wrong = 0;
  {
    BlockCache cache(pool);
    for (int i = 0; i < rounds;) {
      const std::lock_guard lock(mutex);
      if (on_the_way.empty()) continue;
      unsigned char* const block = on_the_way.front();
      on_the_way.pop_front();
      wrong += block[0] != i % 251 || block[127] != i % 251;
      cache.give_back(block, 128);
      ++i;
    }
  }
  taker.join();
  EXPECT_TRUE(ended);
  EXPECT_EQ(wrong, 0);
  // Two caches' worth may lie idle while a third lot is on the way.
  EXPECT_LE(pool.stats().from_heap, most_on_the_way + 3 * 8 * KiB / 128);
}

TEST(Pooled, MemoryServesContainersAndValues) {
  detail::PooledString text("n01440764/n01440764_1.JPEG, which is too long to lie inside");
  const detail::PooledString copy = text;
  EXPECT_EQ(copy, text);
  std::vector<int, detail::PooledAllocator<int>> numbers;
  for (int i = 0; i < 200'000; ++i) numbers.push_back(i);  // through all classes and beyond
  EXPECT_EQ(numbers[123'456], 123'456);
  struct alignas(256) Strict {
    int value = 7;
  };
  const auto strict = detail::make_pooled<Strict>();
  EXPECT_EQ(address(strict.get()) % 256, 0u);
  EXPECT_EQ(strict->value, 7);
  EXPECT_EQ(*detail::make_pooled<std::string>(30, 'x'), std::string(30, 'x'));
}

TEST(Pooled, MemoryIsNotLostIfAConstructorThrows) {
  struct Thrower {
    Thrower() { throw 1; }
  };
  EXPECT_THROW(detail::make_pooled<Thrower>(), int);  // the leak checker is the oracle
}

// The first thread_local is destroyed last, after the cache.
TEST(Pooled, MemoryMayBeGivenBackWhenTheThreadsCacheIsGone) {
  struct Holder {
    detail::PooledString text;
  };
  std::thread([] {
    thread_local Holder holder;
    holder.text.assign(100, 'x');
  }).join();
  std::thread([] {
    detail::PooledString first(100, 'x');  // now the cache is there
    thread_local Holder holder;
    holder.text = std::move(first);
  }).join();
}

#ifdef PENSTOCK_ASAN
TEST(FreeBlocks, ArePoisonedButForTheirLink) {
  alignas(64) std::byte memory[128];
  FreeBlocks blocks;
  blocks.push(memory, sizeof memory);
  EXPECT_FALSE(__asan_address_is_poisoned(memory));
  EXPECT_TRUE(__asan_address_is_poisoned(memory + sizeof(void*)));
  EXPECT_TRUE(__asan_address_is_poisoned(memory + 127));
  EXPECT_EQ(blocks.pop(sizeof memory), memory);
  EXPECT_FALSE(__asan_address_is_poisoned(memory + sizeof(void*)));
  EXPECT_FALSE(__asan_address_is_poisoned(memory + 127));
}
#endif

}  // namespace
}  // namespace penstock
