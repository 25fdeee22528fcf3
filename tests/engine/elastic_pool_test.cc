// Threads for calls that block.
#include "lib/exec/elastic_pool.h"

#include <pthread.h>

#include <memory>
#include <semaphore>

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

TEST(ElasticPool, SaysThatWorkWaits) {
  ElasticPool pool(1);
  std::atomic<bool> may_end{false}, has_begun{false};
  pool.submit([&] {
    has_begun = true;
    EXPECT_TRUE(eventually([&] { return may_end.load(); }));
  });
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  EXPECT_FALSE(pool.is_wanted());
  pool.submit([] {});
  EXPECT_TRUE(pool.is_wanted());
  may_end = true;
  EXPECT_TRUE(eventually([&] { return !pool.is_wanted(); }));
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

// Somebody else has all of the pool's threads until they are told to end, and more work waits for them.
class FullPool {
 public:
  explicit FullPool(std::int64_t spare) : pool(1, spare) {
    pool.submit([this] { end_.acquire(); }, std::make_shared<ElasticPool::Client>());
    pool.submit([this] { ++others_next; });
  }
  ~FullPool() { end(); }
  void end() { end_.release(); }

 private:
  std::counting_semaphore<> end_{0};

 public:
  std::atomic<int> others_next{0};  // has begun
  ElasticPool pool;                 // the last: it ends before what its work uses
};

TEST(ElasticPool, LeavesNoClientWithoutAThread) {
  FullPool full(2);
  const auto client = std::make_shared<ElasticPool::Client>(), another = std::make_shared<ElasticPool::Client>();
  std::atomic<int> done{0};
  for (int i = 0; i < 20; ++i) full.pool.submit([&done] { ++done; }, i % 2 == 0 ? client : another);
  EXPECT_TRUE(testing::eventually([&done] { return done == 20; }));
  EXPECT_EQ(full.others_next, 0) << "spare threads are for those who have none";
}

TEST(ElasticPool, GivesAClientOneThreadBeyondItsCapAndNoMore) {
  testing::CallCounter counter;
  FullPool full(8);
  const auto client = std::make_shared<ElasticPool::Client>();
  for (int i = 0; i < 20; ++i) {
    full.pool.submit(
        [&counter] {
          counter.enter();
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          counter.leave();
        },
        client);
  }
  EXPECT_TRUE(testing::eventually([&counter] { return counter.calls() == 20 && counter.running() == 0; }));
  EXPECT_EQ(counter.most(), 1);
  EXPECT_TRUE(testing::eventually([&full] { return full.pool.threads() == 1; }))
      << "it leaves when it is not needed any more";
}

TEST(ElasticPool, ServesAClientForWhomThereIsNoSpareThreadBeforeOthers) {
  FullPool full(0);
  std::atomic<int> others_before{-1};
  full.pool.submit([&] { others_before = full.others_next.load(); }, std::make_shared<ElasticPool::Client>());
  full.end();
  EXPECT_TRUE(testing::eventually([&others_before] { return others_before >= 0; }));
  EXPECT_EQ(others_before, 0);
}

TEST(ElasticPool, RefusesWorkThatIsNotToWaitWhereThereIsNoThread) {
  FullPool full(0);
  std::atomic<int> done{0};
  std::function<void()> work = [&done] { ++done; };
  EXPECT_FALSE(full.pool.try_submit(work));
  EXPECT_EQ(done, 0) << "not on this thread either";
  ASSERT_TRUE(work) << "it is to be tried again";
  full.end();
  EXPECT_TRUE(testing::eventually([&] { return full.pool.try_submit(work); }));
  EXPECT_TRUE(testing::eventually([&done] { return done == 1; }));
}

// The system gives no thread for as long as this is there: each is to have a stack that no machine has room for.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t none;
    ::pthread_attr_init(&none);
    ::pthread_attr_setstacksize(&none, std::size_t{1} << 47);
    ::pthread_setattr_default_np(&none);
    ::pthread_attr_destroy(&none);
  }
  ~NoMoreThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(ElasticPool, OffersAThreadAgainToAClientForWhomThereWasNone) {
  FullPool full(2);
  const auto client = std::make_shared<ElasticPool::Client>();
  std::atomic<int> done{0};
  {
    const NoMoreThreads here;
    full.pool.submit([&done] { ++done; }, client);
  }
  EXPECT_EQ(full.pool.threads(), 1) << "there was none for it";
  full.pool.submit([&done] { ++done; }, client);
  EXPECT_TRUE(testing::eventually([&done] { return done == 2; }));
}

TEST(ElasticPool, RunsWorkThatIsNotToWaitOnASpareThread) {
  FullPool full(1);
  std::atomic<int> done{0};
  std::function<void()> work = [&done] { ++done; };
  EXPECT_TRUE(full.pool.try_submit(work));
  EXPECT_TRUE(testing::eventually([&done] { return done == 1; }));
}

}  // namespace
}  // namespace penstock::exec
