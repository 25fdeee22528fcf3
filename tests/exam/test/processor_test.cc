#include "tests/exam/processor.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace penstock::exam {
namespace {

struct Job final : Client {
  void wake() override { is_done = true; }
  bool is_done = false;
};

// Runs jobs to their end and notes when each of them was there.
class Host {
 public:
  explicit Host(double cores) : processor(cores) {}

  void add(Processor::Threads threads, double work) { processor.add(threads, work, jobs_.emplace_back()); }

  std::vector<Time> ends() {
    std::vector<Time> ends(jobs_.size(), kNever);
    for (Time next = processor.next(now_); next != kNever; next = processor.next(now_)) {
      processor.advance(next - now_);
      now_ = next;
      while (processor.wake_finished()) {
      }
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (jobs_[i].is_done && ends[i] == kNever) ends[i] = now_;
      }
    }
    return ends;
  }

  Processor processor;

 private:
  std::deque<Job> jobs_;
  Time now_ = 0;
};

constexpr double kJob = 1'000'000;

TEST(Processor, NoMoreJobsThanCoresRunAtFullSpeed) {
  Host host(2);
  host.add(Processor::workers, kJob);
  host.add(Processor::workers, 2 * kJob);
  EXPECT_EQ(host.ends(), (std::vector<Time>{1'000'000, 2'000'000}));
}

TEST(Processor, MoreJobsThanCoresShareThem) {
  Host host(2);
  for (int i = 0; i < 4; ++i) host.add(Processor::workers, kJob);
  const double slower = 4.0 / 2 / (1 - 2 * 0.0005);  // two of four are in excess
  for (const Time end : host.ends()) EXPECT_NEAR(static_cast<double>(end), slower * kJob, 2);
}

TEST(Processor, WhoStaysBehindRunsFasterOnceOthersAreDone) {
  Host host(1);
  host.add(Processor::workers, kJob);
  host.add(Processor::workers, 2 * kJob);
  const auto ends = host.ends();
  EXPECT_NEAR(static_cast<double>(ends[0]), 2 * kJob, 2 * kJob * 0.001);
  EXPECT_NEAR(static_cast<double>(ends[1]), 3 * kJob, 3 * kJob * 0.001);
}

TEST(Processor, WorkersOfLowPriorityLeaveTheConsumerAlmostAllOfItsCore) {
  Host host(1);
  host.processor.set_worker_weight(0.1);
  host.add(Processor::consumers, kJob);
  host.add(Processor::workers, 10 * kJob);
  const auto ends = host.ends();
  EXPECT_NEAR(static_cast<double>(ends[0]), 1.1 * kJob, 0.01 * kJob);
  EXPECT_NEAR(static_cast<double>(ends[1]), 11 * kJob, 0.05 * kJob);
}

TEST(Processor, QuotaBindsOurProcessAndNotTheOthers) {
  Host host(2);
  host.processor.set_quota(1);
  host.processor.set_foreign(1);
  host.add(Processor::workers, kJob);
  host.add(Processor::workers, kJob);
  for (const Time end : host.ends()) EXPECT_NEAR(static_cast<double>(end), 2 * kJob, 0.01 * kJob);
  EXPECT_NEAR(host.processor.cpu_used_foreign(), 2 * kJob, 0.01 * kJob);
}

TEST(Processor, ForeignProcessTakesItsShare) {
  Host host(2);
  host.processor.set_foreign(1);
  host.add(Processor::workers, kJob);
  host.add(Processor::workers, kJob);
  for (const Time end : host.ends()) EXPECT_NEAR(static_cast<double>(end), 1.5 * kJob, 0.01 * kJob);
}

TEST(Processor, CpuTimeIsCountedForEachKindOfThread) {
  Host host(2);
  host.add(Processor::workers, kJob);
  host.add(Processor::consumers, 3 * kJob);
  host.ends();
  EXPECT_NEAR(host.processor.cpu_used(Processor::workers), kJob, 1);
  EXPECT_NEAR(host.processor.cpu_used(Processor::consumers), 3 * kJob, 1);
}

}  // namespace
}  // namespace penstock::exam
