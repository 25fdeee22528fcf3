// SystemShare: what this process may use of its machine: CPUs by affinity and quota, and a quarter of the memory that
// is free, both divided among the ranks of the machine.
//
// Both change while a process runs. So each is read again when it is asked for and what is known of it is too old; a
// reading takes some 0.05 ms. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "lib/base/mutex.h"
#include "lib/core/clock.h"
#include "lib/core/cpu_budget.h"

namespace penstock::runtime {

class SystemShare {
 public:
  // `ranks`: processes that share the machine, at least 1. `clock` gives ns: replaced by tests.
  explicit SystemShare(
      int ranks, HostLimits host = HostLimits(), std::function<std::int64_t()> clock = [] { return now_ns(); });

  // As it was at most `oldest` ns ago.
  double cpus(std::int64_t oldest) EXCLUDES(mutex_);          // above 0; may be a fraction
  std::int64_t memory(std::int64_t oldest) EXCLUDES(mutex_);  // bytes, at least 64 MiB

 private:
  template <class Value> struct Reading {
    Value value;
    std::int64_t at;
  };
  template <class Value, class Read>
  Value recent(std::optional<Reading<Value>>& known, std::int64_t oldest, Read read) REQUIRES(mutex_);

  const int ranks_;
  const HostLimits host_;
  const std::function<std::int64_t()> clock_;
  Mutex mutex_;  // held while the system is asked, so that whoever comes meanwhile has the same answer
  std::optional<Reading<double>> cpus_ GUARDED_BY(mutex_);
  std::optional<Reading<std::int64_t>> memory_ GUARDED_BY(mutex_);
};

}  // namespace penstock::runtime
