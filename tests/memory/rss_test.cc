// What the system says a run takes, against what the run says itself.
#include <gtest/gtest.h>
#include <malloc.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include "tests/memory/payload.h"
#include "tests/memory/resident.h"
#include "tests/support/random.h"

namespace memory_stress {
namespace {

namespace ps = penstock;

// A tensor whose pages are all there.
ps::Tensor filled(std::int64_t bytes) {
  ps::Tensor tensor(ps::DType::u8, {bytes});
  std::memset(tensor.data(), 7, tensor.bytes());
  return tensor;
}

constexpr auto kMiB = static_cast<std::int64_t>(ps::MiB);

struct Measured {
  std::int64_t rss = 0;        // peak of resident memory beyond what there was before
  std::int64_t accounted = 0;  // peak by the run's books
};

Measured measure(const ps::Dataset<ps::Tensor>& data, std::size_t budget) {
  reset_peak();
  const std::int64_t before = status_bytes("VmRSS");
  auto run = data.start({.memory_bytes = budget});
  while (run.next()) {
  }
  return {status_bytes("VmHWM") - before, run.stats().memory_peak};
}

void expect_close(const Measured& measured) {
  EXPECT_GT(measured.accounted, 8 * kMiB);
  EXPECT_LE(static_cast<double>(measured.rss), 1.25 * static_cast<double>(measured.accounted) + 32.0 * kMiB)
      << "accounted " << measured.accounted / kMiB << " MiB";
  ::testing::Test::RecordProperty("rss_mib", std::to_string(measured.rss / kMiB));
  ::testing::Test::RecordProperty("accounted_mib", std::to_string(measured.accounted / kMiB));
}

// Sizes that drive glibc's own allocator to several times its due: blocks of 8 to 12 MB. They are foretold: what calls
// without a hint allocate is on the books only when they end.
TEST(ResidentMemory, OfLargeBlocksStaysNearTheBooks) {
  const auto size = [](std::int64_t i) {
    return penstock::test::Random(static_cast<std::uint64_t>(i)).between(8 * kMiB, 12 * kMiB);
  };
  const auto same_size = [](const ps::Tensor& tensor) { return tensor.size(); };
  const auto data =
      ps::range(600)
          .map([size](std::int64_t i) { return filled(size(i)); }, 16, {.blocks = true, .bytes_hint = size})
          .map([](const ps::Tensor& tensor) { return filled(tensor.size()); }, 4, {.bytes_hint = same_size});
  expect_close(measure(data, 72 * ps::MiB));
}

// From the pool's smallest size upwards, over two orders of magnitude.
TEST(ResidentMemory, OfMixedSizesStaysNearTheBooks) {
  const auto data = ps::range(4000).map(
      [](std::int64_t i) {
        penstock::test::Random random(static_cast<std::uint64_t>(i));
        const std::int64_t base = random.between(256 << 10, 600 << 10);
        return filled(random.one_in(50) ? 40 * base : base);
      },
      8);
  expect_close(measure(data.shuffle(20, {.seed = 1}), 64 * ps::MiB));
}

TEST(ResidentMemory, OfBatchesStaysNearTheBooks) {
  const auto data = ps::range(1600).map([](std::int64_t) { return filled(512 << 10); }, 4).batch(32);
  expect_close(measure(data, 64 * ps::MiB));
}

// A run over payloads of the stress test's sizes, forty times as large.
class RestingRun {
 public:
  RestingRun(Tally& tally, std::uint64_t salt, std::size_t budget)
      : run_(payloads(tally, salt).shuffle(50, {.seed = salt}).start({.memory_bytes = budget})) {}

  void take(int count) {
    while (count-- > 0) run_.next();
  }
  std::int64_t books() const { return run_.snapshot().memory_used; }
  bool computes() const {
    const auto snapshot = run_.snapshot();
    return std::ranges::any_of(snapshot.stages, [](const ps::StageSnapshot& stage) { return stage.running > 0; });
  }

 private:
  static ps::Dataset<Payload> payloads(Tally& tally, std::uint64_t salt) {
    const auto size = [salt](std::int64_t number) { return 40 * size_of(number, salt); };
    return ps::range(100'000).map([&tally, size](std::int64_t number) { return Payload(tally, number, size(number)); },
                                  4, {.bytes_hint = size});
  }

  ps::Run<Payload> run_;
};

// What the books of both say when nothing moves any more: for a while no call has been under way in either, and no book
// has changed.
std::int64_t books_at_rest(const RestingRun& one, const RestingRun& other) {
  std::pair<std::int64_t, std::int64_t> books{-1, -1};
  for (int equal = 0; equal < 40;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::pair now{one.books(), other.books()};
    const bool is_same = now == std::exchange(books, now);
    equal = is_same && !one.computes() && !other.computes() ? equal + 1 : 0;
  }
  return books.first + books.second;
}

TEST(ResidentMemory, OfTwoRunsAtRestIsWhatTheBooksAndTheAllocatorSay) {
  // Each payload a mapping of its own: else the heap would keep what is freed, by a threshold that glibc moves as it
  // likes.
  ASSERT_EQ(mallopt(M_MMAP_THRESHOLD, 64 << 10), 1);
  Tally tally;
  const std::int64_t before = status_bytes("VmRSS");
  RestingRun one(tally, 1, 256 * ps::MiB), other(tally, 2, 256 * ps::MiB);
  for (const int taken : {1, 50, 200, 1000}) {
    one.take(taken);
    other.take(taken);
    const auto books = static_cast<double>(books_at_rest(one, other));
    const auto allocated = static_cast<double>(tally.live());
    const auto resident = static_cast<double>(status_bytes("VmRSS") - before);
    EXPECT_NEAR(allocated, books, books / 10);
    EXPECT_NEAR(resident, books, books / 10);
    std::cout << "MB on the books, allocated, resident: " << books / 1e6 << ' ' << allocated / 1e6 << ' '
              << resident / 1e6 << '\n';
  }
}

}  // namespace
}  // namespace memory_stress
