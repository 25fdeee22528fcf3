// What this process may use of its machine, and when it is looked up again. The machine has 8 CPUs; its /proc and /sys
// are a test's folder.
#include "lib/runtime/system_share.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace penstock::runtime {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct Machine {
  Machine() {
    write("proc/self/cgroup", "0::/job\n");
    write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    allow_cpus(4);
    free_mib(4096);
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root.path() / path).parent_path());
    std::ofstream(root.path() / path) << text;
  }
  void allow_cpus(int count) const { write("sys/fs/cgroup/job/cpu.max", std::to_string(count) + "00000 100000\n"); }
  void free_mib(int count) const { write("proc/meminfo", "MemAvailable: " + std::to_string(count * 1024) + " kB\n"); }
  HostLimits limits() const {
    return HostLimits(root.path(), [] { return HostLimits::Cpus{8, 8}; });
  }
  SystemShare share(int ranks = 1) {
    return SystemShare(ranks, limits(), [this] { return now; });
  }

  test::TemporaryFolder root;
  std::int64_t now = 1'000'000;
};

TEST(SystemShare, IsAsOldAsItMayBe) {
  Machine machine;
  SystemShare share = machine.share();
  EXPECT_EQ(share.cpus(0), 4);
  machine.allow_cpus(2);
  machine.now += 100;
  EXPECT_EQ(share.cpus(100), 4);
  EXPECT_EQ(share.cpus(99), 2);
  machine.allow_cpus(3);
  EXPECT_EQ(share.cpus(99), 2) << "it has just been read";
}

TEST(SystemShare, ReadsMemoryAsOftenAsCpus) {
  Machine machine;
  SystemShare share = machine.share();
  EXPECT_EQ(share.memory(0), 1024 * kMiB);
  machine.free_mib(400);
  machine.now += 100;
  EXPECT_EQ(share.cpus(0), 4) << "which tells nothing of the memory";
  EXPECT_EQ(share.memory(100), 1024 * kMiB);
  EXPECT_EQ(share.memory(99), 100 * kMiB);
}

TEST(SystemShare, IsDividedAmongTheRanksOfTheMachine) {
  Machine machine;
  SystemShare share = machine.share(8);
  EXPECT_EQ(share.cpus(0), 0.5);
  EXPECT_EQ(share.memory(0), 128 * kMiB);
}

TEST(SystemShare, HasSomeMemoryInAnyCase) {
  Machine machine;
  machine.free_mib(1);
  EXPECT_EQ(machine.share().memory(0), 64 * kMiB);
}

}  // namespace
}  // namespace penstock::runtime
