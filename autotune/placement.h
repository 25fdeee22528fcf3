// Placement: which stages wait, and so belong on the pool of threads.
#pragma once

#include <optional>

#include <penstock/snapshot.h>

namespace penstock::autotune {

class Placement {
 public:
  // 1: to the pool, 0: to the compute arena; none: as it is, or not known yet. Only for stages whose user has not said which it is.
  std::optional<int> wish(const StageSnapshot& now);

 private:
  StageSnapshot judged_;  // when it was last looked at
};

}  // namespace penstock::autotune
