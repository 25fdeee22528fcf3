#include "lib/runtime/heap_trim.h"

#include <gtest/gtest.h>
#include <penstock/detail/results.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "lib/core/heap_top.h"
#include "tests/engine/support.h"
#include "tests/support/under_sanitizer.h"

namespace penstock {
namespace {

using runtime::HeapTrim;
using testing::kSecond;

constexpr std::int64_t kMiB = 1 << 20;

// A process in which only trim() lowers resident memory, to `lowest`.
std::int64_t resident = 0, lowest = 0;
int trims = 0;

class HeapTrimTest : public ::testing::Test {
 protected:
  HeapTrimTest() {
    resident = 1000 * kMiB;
    lowest = 0;
    trims = 0;
    trim_.begin();
  }
  // Looks for ten seconds.
  void look_on(std::int64_t used, std::int64_t limit) {
    for (const std::int64_t end = now_ + 10 * kSecond; now_ < end; now_ += kSecond / 100) trim_.look(now_, used, limit);
  }

  HeapTrim trim_{{[]() noexcept { return resident; },
                  []() noexcept {
                    ++trims;
                    resident = std::min(resident, lowest);
                  }}};
  std::int64_t now_ = 0;
};

TEST_F(HeapTrimTest, LeavesWhatTheBooksSayInPeace) {
  resident += 70 * kMiB;
  look_on(64 * kMiB, 64 * kMiB);
  EXPECT_EQ(trims, 0);
}

TEST_F(HeapTrimTest, GivesBackWhatIsMuchMore) {
  resident += 170 * kMiB;
  lowest = 1070 * kMiB;
  look_on(64 * kMiB, 64 * kMiB);
  EXPECT_EQ(trims, 1);
  EXPECT_EQ(resident, lowest);
}

TEST_F(HeapTrimTest, MeasuresMuchByWhatARunMayHold) {
  resident += 170 * kMiB;
  look_on(64 * kMiB, 1000 * kMiB);
  EXPECT_EQ(trims, 0);
}

// The program has taken it for itself.
TEST_F(HeapTrimTest, SeldomComesBackToWhatItCannotHelp) {
  resident += 500 * kMiB;
  lowest = resident;
  look_on(64 * kMiB, 64 * kMiB);
  EXPECT_LE(trims, 8);
  const int before = trims;
  look_on(64 * kMiB, 64 * kMiB);
  EXPECT_LE(trims, before + 1);
}

TEST_F(HeapTrimTest, ComesBackSoonToWhatItHelped) {
  for (int time = 1; time <= 20; ++time) {
    resident = 1200 * kMiB;
    lowest = 1000 * kMiB;
    trim_.look(now_ += kSecond / 10, 0, 64 * kMiB);
    EXPECT_EQ(trims, time);
  }
}

// Threads give back what their arenas have after trim() has returned.
TEST_F(HeapTrimTest, SeesWhatHelpsOnlyLater) {
  int before = 0;
  for (int time = 1; time <= 20; ++time) {
    resident = 1200 * kMiB;
    lowest = resident;
    before = trims;
    trim_.look(now_ += kSecond / 10, 0, 64 * kMiB);
    resident = 1000 * kMiB;
    trim_.look(now_ += kSecond / 10, 0, 64 * kMiB);
    EXPECT_EQ(trims, before + 1);
  }
}

TEST(HeapTop, OfAThreadsArenaIsGivenBackWhenItIsAskedFor) {
  if (UNDER_SANITIZER) GTEST_SKIP() << "sanitizers have an allocator of their own, without arenas";
  const auto touched = [](std::size_t bytes) { return std::vector<char>(bytes, 'x'); };
  touched(31 << 20);  // from now on the C library keeps as much
  std::int64_t kept = 0, left = 0;
  std::thread([&] {
    const std::int64_t before = HeapTrim::system().resident_bytes();
    touched(20 << 20);
    kept = HeapTrim::system().resident_bytes() - before;
    ask_for_heap_tops();
    give_back_heap_top();
    left = HeapTrim::system().resident_bytes() - before;
  }).join();
  if (kept < 10 * kMiB) GTEST_SKIP() << "another allocator, which keeps nothing";
  EXPECT_LT(left, kept / 4);
}

// What it made on one thread, that thread may never come back to.
TEST(ListResults, OfManyBytesGiveTheirPagesBackAtOnce) {
  { const std::vector<char> first(31 << 20, 'x'); }  // from now on the C library keeps as much
  auto list = std::make_unique<detail::ListResults<std::int64_t>>(std::vector<std::int64_t>((24 << 20) / 8, 7));
  const std::int64_t with = HeapTrim::system().resident_bytes();
  if (with == 0) GTEST_SKIP() << "nobody knows here how much is resident";
  list.reset();
  EXPECT_LT(HeapTrim::system().resident_bytes(), with - 20 * kMiB);
}

TEST(HeapTrimOfTheSystem, KnowsHowMuchIsResident) {
#ifdef __GLIBC__
  EXPECT_GT(HeapTrim::system().resident_bytes(), kMiB);
#endif
  HeapTrim::system().trim();
}

}  // namespace
}  // namespace penstock
