// Placement: which stages wait, and so belong on the pool of threads.
#pragma once

#include <cstdint>
#include <optional>

#include <penstock/snapshot.h>

namespace penstock::autotune {

class Placement {
 public:
  // 1: to the pool, 0: to the compute arena; none: as it is, or not known yet. Only for stages whose user has not said which it is.
  std::optional<int> wish(const StageSnapshot& now);

 private:
  void note(const StageSnapshot& now);

  std::int64_t samples_ = 0, waited_ = 0, wall_ns_ = 0, cpu_ns_ = 0;  // when it was last judged
};

}  // namespace penstock::autotune
