#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "bench/opponent/batch_ring.h"
#include "bench/opponent/plain_threads.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::bench {
namespace {

TEST(BatchRing, GivesEveryRowOnceAndASmallerBatchAtTheEnd) {
  BatchRing ring(2, 4, 1);
  constexpr int rows = 4 * 25 + 3;
  std::atomic<int> next{0};
  std::atomic<int> working{3};
  const auto work = [&] {
    for (int i = next++; i < rows; i = next++) ring.commit(ring.claim());
    if (--working == 0) ring.close();
  };
  std::vector<std::int64_t> batches;
  {
    const std::jthread a(work), b(work), c(work);
    for (std::int64_t count = ring.next(); count > 0; count = ring.next()) {
      batches.push_back(count);
      ring.release();
    }
  }
  ASSERT_EQ(batches.size(), 26U);
  EXPECT_EQ(batches.back(), 3);
  batches.pop_back();
  EXPECT_THAT(batches, ::testing::Each(4));
}

TEST(BatchRing, ServesAnotherRoundAfterReset) {
  BatchRing ring(2, 4, 1);
  for (int round = 0; round < 2; ++round) {
    ring.commit(ring.claim());
    ring.close();
    EXPECT_EQ(ring.next(), 1);
    ring.release();
    EXPECT_EQ(ring.next(), 0);
    ring.reset();
  }
}

TEST(PlainThreads, DoesTheWorkOfTheBenchmark) {
  const pictures::SampleSet set(12);
  ImagenetOptions options;
  options.data = set.images();
  options.crop = {16, 16};
  options.batch = 4;
  options.epochs = 3;
  const Files files = find_files(options);
  Progress progress(true);
  const Measurement engine = Bench(options, files, FileOrder::shuffled).run({}, progress);
  const Measurement threads = PlainThreads(options, files).run();
  EXPECT_EQ(threads.images, engine.images);
  EXPECT_EQ(threads.samples, engine.samples);
  EXPECT_EQ(threads.batches, (engine.samples + 3) / 4);  // its batches reach across epochs
}

TEST(PlainThreads, ThrowsWhatAThreadHasThrown) {
  const pictures::SampleSet set(6);
  pictures::SampleSet::write(set.paths()[3], "no picture");
  ImagenetOptions options;
  options.data = set.images();
  options.crop = {16, 16};
  const Files files = find_files(options);
  EXPECT_THROW(PlainThreads(options, files).run(), Error);
}

TEST(PlainThreads, RefusesOtherWork) {
  const pictures::SampleSet set(1);
  ImagenetOptions options;
  options.data = set.images();
  options.workload = Workload::eval;
  const Files files = find_files(options);
  EXPECT_THROW(PlainThreads(options, files), UsageError);
}

}  // namespace
}  // namespace penstock::bench
