// How many CPUs and how much memory this process may use.
//
//   const HostLimits host;
//   const double cpus = host.cpus().for_rank(world.local_size);  // 3.5 on 8 cores with a quota of 350 %
//   const std::uint64_t memory = host.memory().bytes();
//
// std::thread::hardware_concurrency and oneTBB 2021.8 know the affinity mask but not the quotas
// that containers and batch systems set, and then start 64 threads on 2 CPUs. Quotas are read from
// the process's cgroup, version 1 or 2 (or both, as on hybrid hosts), and from each of its parents:
// the tightest one counts.
#pragma once

#include <penstock/detail/pooled.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

struct CpuLimits {
  int offered = 1;   // CPUs of the machine, or of the cgroup's cpuset where that is smaller
  int affinity = 1;  // of these, the ones in the process's affinity mask
  // CPUs' worth of time by cgroup; infinity: no quota.
  double quota = std::numeric_limits<double>::infinity();

  // min(affinity, quota): above 0, and not always a whole number.
  double cpus() const noexcept;

  // The part of one of `local_size` processes on this machine. Not divided where local_size is 0
  // (unknown), or where the launcher has already given each process a mask of its own: local_size
  // masks of this width fit into what is offered.
  double for_rank(int local_size) const noexcept;
};

struct MemoryLimits {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t cgroup = unlimited;     // hard limit of the cgroup and its parents, bytes
  std::uint64_t available = unlimited;  // the kernel's MemAvailable, bytes

  std::uint64_t bytes() const noexcept;  // the smaller one
};

// Where the limits are read from. Const members may be called from any thread.
class HostLimits {
 public:
  // How many CPUs are online and in the process's mask: replaced by tests.
  struct Cpus {
    int online;
    int affinity;
  };

  // Finds out where cgroups are mounted. Never throws for what it reads: what cannot be read or
  // understood is no limit. `root` stands in front of /proc and of mount points: a test's folder
  // with a tree of its own.
  explicit HostLimits(std::string root = "", std::function<Cpus()> cpus = read_cpus);

  // Both read the present values, for limits change while a process runs. ~0.05 ms each.
  CpuLimits cpus() const;
  MemoryLimits memory() const;

  static Cpus read_cpus();

 private:
  // One mounted hierarchy of cgroups.
  struct Hierarchy {
    bool version_2 = false;
    std::string options;  // of version 1: names its controllers, "rw,cpu,cpuacct"
    std::string root;     // the cgroup that is seen at the mount point
    std::string mount_point;
  };
  // The process's cgroup or one of its parents, where files with its limits may be.
  struct Folder {
    bool version_2 = false;
    detail::PooledString path;
  };
  using Folders = std::vector<Folder, detail::PooledAllocator<Folder>>;

  detail::PooledString cgroups() const;  // that the process is in
  Folders folders_with(std::string_view controller, std::string_view cgroups) const;

  std::string root_;
  std::function<Cpus()> cpus_;
  std::vector<Hierarchy> hierarchies_;
};

}  // namespace penstock
