// Claims: what a run uses of what it shares with other runs, and what it would use if it could.
#pragma once

#include <cstdint>

#include <penstock/snapshot.h>

#include "lib/runtime/arbiter.h"

namespace penstock::runtime {

class RunClaims {
 public:
  RunClaims() = default;
  explicit RunClaims(std::int64_t open_io) : blocking_{static_cast<double>(open_io), 0} {}

  // Every now and then: what was used since the last look. `cpus`: that it may have at all.
  void look(const Snapshot& now, double cpus);
  const Claim& cpus() const noexcept { return cpus_; }
  const Claim& blocking_calls() const noexcept { return blocking_; }

 private:
  Claim cpus_;
  Claim blocking_;
  std::int64_t time_ns_ = 0;
  std::int64_t computing_ns_ = 0, waiting_ns_ = 0;  // call time of all stages so far
};

}  // namespace penstock::runtime
