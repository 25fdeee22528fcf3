// What the threads that run calls have used, and who is one of them.
#include "lib/exec/worker_threads.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>

#include "lib/core/clock.h"
#include "lib/exec/consumer_clock.h"

#include "tests/engine/support.h"
#include "tests/support/burn.h"
#include "tests/support/ended_thread.h"

namespace penstock::exec {
namespace {

using namespace testing;
using Role = WorkerThreads::Role;
constexpr std::int64_t kMs = 1'000'000;

TEST(WorkerThreads, CountWhatAThreadUsesFromItsJoiningToItsEnd) {
  WorkerThreads workers;
  std::thread([&] {
    burn(30 * kMs);
    const std::int64_t before = thread_cpu_ns();
    workers.join(Role::worker);
    workers.join(Role::worker);
    EXPECT_EQ(workers.count(), 1);
    burn(5 * kMs);
    EXPECT_GE(workers.cpu_ns(), 5 * kMs);
    EXPECT_LE(workers.cpu_ns(), thread_cpu_ns() - before) << "nothing of what came before";
    burn(5 * kMs);
  }).join();
  EXPECT_EQ(workers.count(), 0);
  EXPECT_GE(workers.cpu_ns(), 10 * kMs) << "it has ended, its time has not";
  EXPECT_LT(workers.cpu_ns(), 30 * kMs);
}

// A thread that had slept for some seconds left while a call computed: the sum fell, and the call seemed to wait.
TEST(WorkerThreads, CountTheTimeOfARoleWhenItsThreadHasEnded) {
  WorkerThreads workers;
  std::thread([&] {
    workers.join(Role::worker);
    burn(5 * kMs);
  }).join();
  EXPECT_GE(workers.cpu_ns(Role::worker), 5 * kMs);
  EXPECT_EQ(workers.cpu_ns(Role::controller), 0);
}

TEST(WorkerThreads, AreReadFromOutsideWhileTheyRun) {
  WorkerThreads workers;
  const std::jthread worker([&](std::stop_token stop) {
    workers.join(Role::worker);
    while (!stop.stop_requested()) burn(kMs);
  });
  EXPECT_TRUE(eventually([&] { return workers.cpu_ns() > 20 * kMs; }));
}

TEST(WorkerThreads, MayOutliveTheirList) {
  auto workers = std::make_unique<WorkerThreads>();
  std::atomic<int> step{0};
  std::thread worker([&] {
    workers->join(Role::worker);
    step = 1;
    eventually([&] { return step == 2; });
  });
  EXPECT_TRUE(eventually([&] { return step == 1; }));
  workers.reset();
  step = 2;
  worker.join();
}

// A thread may run calls of two lists, as in these tests; it belongs to the one it came to last.
TEST(WorkerThreads, LeaveOneListForAnother) {
  WorkerThreads first, second;
  std::thread([&] {
    first.join(Role::worker);
    burn(5 * kMs);
    second.join(Role::worker);
    EXPECT_EQ(first.count(), 0);
    EXPECT_EQ(second.count(), 1);
    EXPECT_GE(first.cpu_ns(), 5 * kMs);
    EXPECT_LT(second.cpu_ns(), 5 * kMs);
  }).join();
}

// What is thread_local ends in reverse order: one that was made before a thread joined ends the child behind its
// leaving.
struct EndOfChild {
  const pid_t parent = ::getpid();
  ~EndOfChild() {
    if (::getpid() != parent) ::_exit(0);
  }
};

// The list is locked nearly all of the time, so most children begin with a lock that nobody will ever open.
TEST(WorkerThreads, DoNotWaitForEachOtherWhereAForkedChildExits) {
  WorkerThreads workers;
  std::jthread reader([&](std::stop_token stop) {
    workers.join(Role::worker);
    while (!stop.stop_requested()) workers.cpu_ns();
  });
  std::thread([&] {
    static thread_local const EndOfChild end;
    EXPECT_NE(end.parent, 0);  // made now
    workers.join(Role::worker);
    for (int i = 0; i < 20; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(20);              // a hang must not outlive the test
        ::pthread_exit(nullptr);  // as exit() does, it ends what is thread_local
      }
      int status = -1;
      ::waitpid(child, &status, 0);
      ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    }
  }).join();
}

ConsumerSnapshot reading_of(ConsumerClock& clock) {
  ConsumerSnapshot snapshot;
  clock.read();
  clock.snapshot(snapshot);
  return snapshot;
}

TEST(ConsumerClock, KnowsNothingBeforeSomebodyHasTaken) {
  ConsumerClock clock(system_machine());
  EXPECT_EQ(reading_of(clock).cpu_ns, -1);
  EXPECT_EQ(reading_of(clock).delay_ns, -1);
}

TEST(ConsumerClock, CountsTheThreadThatTakesFromItsFirstCallOn) {
  ConsumerClock clock(system_machine());
  ASSERT_TRUE(run_on_a_thread_and_await_its_end([&] {
    burn(30 * kMs);
    clock.called_here();
    const std::int64_t begun = thread_cpu_ns();
    EXPECT_GE(reading_of(clock).cpu_ns, 0);
    burn(5 * kMs);
    clock.called_here();
    const std::int64_t used = reading_of(clock).cpu_ns;
    EXPECT_GE(used, 5 * kMs);
    EXPECT_LE(used, thread_cpu_ns() - begun + kMs);
  }));
  const std::int64_t last = reading_of(clock).cpu_ns;
  EXPECT_GE(last, 5 * kMs);
  burn(5 * kMs);
  EXPECT_EQ(reading_of(clock).cpu_ns, last) << "its thread has ended";
}

// Nobody has read its clock since it began.
TEST(ConsumerClock, CountsWhatAThreadHasUsedBeforeAnotherTookOver) {
  ConsumerClock clock(system_machine());
  std::latch taken(1), over(1);
  std::jthread first([&] {
    clock.called_here();
    burn(30 * kMs);
    taken.count_down();
    over.wait();
  });
  taken.wait();
  clock.called_here();
  EXPECT_GE(reading_of(clock).cpu_ns, 30 * kMs);
  over.count_down();
}

TEST(ConsumerClock, GoesOnWithAnotherThread) {
  ConsumerClock clock(system_machine());
  const auto consume = [&] {
    clock.called_here();
    burn(5 * kMs);
    reading_of(clock);
  };
  ASSERT_TRUE(run_on_a_thread_and_await_its_end(consume));
  reading_of(clock);
  ASSERT_TRUE(run_on_a_thread_and_await_its_end(consume));  // it may well have the first one's id
  EXPECT_GE(reading_of(clock).cpu_ns, 10 * kMs);
}

}  // namespace
}  // namespace penstock::exec
