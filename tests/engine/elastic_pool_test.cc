// Threads for calls that block.
#include "lib/exec/elastic_pool.h"

#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

using testing::eventually;

// Two pieces of work, each of which waits for the other.
bool both_run_at_once(ElasticPool& pool) {
  std::atomic<int> begun{0}, met{0};
  const auto meet = [&] { met += eventually([&] { return begun == 2; }) ? 1 : 0; };
  std::atomic<int> ended{0};
  for (int i = 0; i < 2; ++i) {
    pool.submit([&] {
      ++begun;
      meet();
      ++ended;
    });
  }
  while (ended < 2) std::this_thread::yield();
  return met == 2;
}

// A thread that is idle can take one of them only.
TEST(ElasticPool, HasAThreadForEachPieceOfWork) {
  for (int round = 0; round < 20; ++round) {
    ElasticPool pool(8);
    std::atomic<bool> warm{false};
    pool.submit([&warm] { warm = true; });
    ASSERT_TRUE(eventually([&warm] { return warm.load(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // by then it is idle, most times
    ASSERT_TRUE(both_run_at_once(pool));
  }
}

TEST(ElasticPool, LetsWorkBeyondItsCapWait) {
  testing::CallCounter counter;
  {
    ElasticPool pool(3);
    for (int i = 0; i < 50; ++i) {
      pool.submit([&counter] {
        counter.enter();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        counter.leave();
      });
    }
    EXPECT_LE(pool.threads(), 3);
  }
  EXPECT_EQ(counter.calls(), 50) << "what is queued is finished first";
  EXPECT_LE(counter.most(), 3);
}

}  // namespace
}  // namespace penstock::exec
