#include "lib/core/cpu_budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr double none = std::numeric_limits<double>::infinity();

// A machine of 8 CPUs whose /proc and /sys are in a folder of the test's own.
class HostLimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ =
        fs::temp_directory_path() / ("penstock_host_" + std::string(info->name()) + "_" + std::to_string(::getpid()));
    fs::create_directories(root_);
    write("proc/meminfo", "MemTotal:       16000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void version_2(const std::string& cgroup, const std::string& root = "/") {
    write("proc/self/cgroup", "0::" + cgroup + "\n");
    write("proc/self/mountinfo", "25 20 0:22 / /proc rw - proc proc rw\n31 23 0:28 " + root +
                                     " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  }
  void version_1(const std::string& cgroup) {
    write("proc/self/cgroup",
          "5:memory:" + cgroup + "\n4:cpu,cpuacct:" + cgroup + "\n3:cpuset:/other\n1:name=systemd:/x\n0::/y\n");
    write("proc/self/mountinfo",
          "31 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
          "32 23 0:29 / /sys/fs/cgroup/memory rw shared:1 master:2 - cgroup cgroup rw,memory\n"
          "33 23 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
          "34 23 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  }
  HostLimits host(int affinity = 8) const {
    return HostLimits(root_, [affinity] { return HostLimits::Cpus{8, affinity}; });
  }

  fs::path root_;
};

TEST_F(HostLimitsTest, HasNoQuotaWithoutCgroups) {
  const CpuLimits limits = host(6).cpus();
  EXPECT_EQ(limits.offered, 8);
  EXPECT_EQ(limits.affinity, 6);
  EXPECT_EQ(limits.quota, none);
  EXPECT_EQ(limits.cpus(), 6);
  EXPECT_EQ(host().memory().bytes(), 8000u * 1024);
}

TEST_F(HostLimitsTest, ReadsTheQuotaOfVersion2) {
  version_2("/job");
  write("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  write("sys/fs/cgroup/job/memory.max", "1048576\n");
  EXPECT_EQ(host().cpus().quota, 2.5);
  EXPECT_EQ(host().cpus().cpus(), 2.5);
  EXPECT_EQ(host(2).cpus().cpus(), 2);
  EXPECT_EQ(host().memory().cgroup, 1048576u);
  EXPECT_EQ(host().memory().bytes(), 1048576u);
}

TEST_F(HostLimitsTest, TakesTheTightestOfAllParents) {
  version_2("/a/b/c");
  write("sys/fs/cgroup/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/a/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.max", "4096\n");
  EXPECT_EQ(host().cpus().quota, 1.5);
  EXPECT_EQ(host().memory().cgroup, 4096u);
}

TEST_F(HostLimitsTest, SeesALimitThatOnlyTheTopOfTheTreeHas) {
  version_2("/job");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  write("sys/fs/cgroup/memory.max", "4096\n");
  EXPECT_EQ(host().cpus().quota, 2);
  EXPECT_EQ(host().memory().cgroup, 4096u);
}

TEST_F(HostLimitsTest, ReadsVersion1) {
  version_1("/batch/job 1");
  write("sys/fs/cgroup/cpu,cpuacct/batch/job 1/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu,cpuacct/batch/job 1/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "2048000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(host().cpus().quota, 0.5);
  EXPECT_EQ(host().memory().cgroup, 2048000u);
}

TEST_F(HostLimitsTest, SeesAContainersCgroupAtTheMountPoint) {
  version_2("/docker/abc/inner", "/docker/abc");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  write("sys/fs/cgroup/inner/cpu.max", "200000 100000\n");
  EXPECT_EQ(host().cpus().quota, 2);
}

TEST_F(HostLimitsTest, UsesTheMountPointIfThePathIsTheHosts) {
  for (const char* path : {"/elsewhere/x", "/../../host", "/docker/abcdef", ""}) {
    version_2(path, "/docker/abc");
    write("sys/fs/cgroup/cpu.max", "300000 100000\n");
    EXPECT_EQ(host().cpus().quota, 3) << path;
  }
}

TEST_F(HostLimitsTest, FollowsAQuotaThatChanges) {
  version_2("/job");
  const HostLimits limits = host();
  EXPECT_EQ(limits.cpus().quota, none);
  write("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
  EXPECT_EQ(limits.cpus().quota, 1);
  version_2("/moved");
  EXPECT_EQ(limits.cpus().quota, none);
}

TEST_F(HostLimitsTest, ReadsMountPointsWithEscapedBlanks) {
  write("proc/self/cgroup", "0::/\n");
  write("proc/self/mountinfo", "1 2 0:3 / /my\\040groups\\134 rw - cgroup2 none rw\n");
  write("my groups\\/cpu.max", "700000 100000\n");
  EXPECT_EQ(host().cpus().quota, 7);
}

TEST_F(HostLimitsTest, IgnoresWhatItCannotUnderstand) {
  version_2("/job");
  for (const char* text :
       {"", "\n", "x y\n", "100000\n", "100000 0\n", "-5 100000\n", "0 100000\n", "99999999999999999999 100000\n"}) {
    write("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(host().cpus().quota, none) << text;
  }
  write("sys/fs/cgroup/job/memory.max", "-1\n");
  write("proc/meminfo", "MemAvailable: lots\nMemAvailable:\nMemAvailable: 99999999999999999999 kB\n");
  EXPECT_EQ(host().memory().bytes(), MemoryLimits::unlimited);
}

TEST_F(HostLimitsTest, SurvivesBrokenTables) {
  for (const char* text : {"", "\n\n", "-\n", "a b c d e f - cgroup2\n", " - cgroup2 x rw\n",
                           "1 2 3 / \\04 rw - cgroup2 x rw\n", "1 2 3 / \\777 rw - cgroup2 x rw"}) {
    write("proc/self/mountinfo", text);
    for (const char* groups : {"", ":", "::", "0::", "0::x\n", "4:cpu\n", "\n:\n"}) {
      write("proc/self/cgroup", groups);
      EXPECT_EQ(host().cpus().quota, none);
    }
  }
}

TEST_F(HostLimitsTest, OffersWhatTheCpusetHas) {
  version_2("/job");
  write("sys/fs/cgroup/job/cpuset.cpus.effective", "0-1,6\n");
  EXPECT_EQ(host(3).cpus().offered, 3);
  for (const char* text : {"\n", "3-1\n", "0-x\n", "0-99999999999\n", "0-15\n"}) {
    write("sys/fs/cgroup/job/cpuset.cpus.effective", text);
    EXPECT_EQ(host(3).cpus().offered, 8) << text;
  }
}

TEST(CpuLimits, AreDividedAmongTheRanksOfAMachine) {
  const CpuLimits limits{.offered = 8, .affinity = 8};
  EXPECT_EQ(limits.for_rank(0), 8);
  EXPECT_EQ(limits.for_rank(1), 8);
  EXPECT_EQ(limits.for_rank(4), 2);
  EXPECT_EQ((CpuLimits{.offered = 8, .affinity = 8, .quota = 3}).for_rank(2), 1.5);
}

TEST(CpuLimits, AreNotDividedWhereTheLauncherHasDoneSo) {
  EXPECT_EQ((CpuLimits{.offered = 8, .affinity = 2}).for_rank(4), 2);
  EXPECT_EQ((CpuLimits{.offered = 8, .affinity = 4}).for_rank(4), 1);
}

TEST(HostLimits, ReadsThisMachine) {
  const HostLimits host;
  const CpuLimits cpus = host.cpus();
  EXPECT_GT(cpus.cpus(), 0);
  EXPECT_LE(cpus.cpus(), static_cast<double>(std::thread::hardware_concurrency()));
  EXPECT_GT(host.memory().bytes(), 0u);
  EXPECT_LT(host.memory().available, MemoryLimits::unlimited);
}

}  // namespace
}  // namespace penstock
