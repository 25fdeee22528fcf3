// Placement: which stages wait, and so belong on the pool of threads.
#pragma once

#include <cstdint>
#include <optional>

#include <penstock/snapshot.h>

namespace penstock::autotune {

class Placement {
 public:
  // 1: to the pool, 0: to the compute arena; none: as it is, or not known yet. Only for stages whose user has not said
  // which it is.
  std::optional<int> wish(const StageSnapshot& now);

 private:
  enum class Kind : std::uint8_t { unknown, blocks, computes };

  void count_looks(const StageSnapshot& now);
  Kind judge_samples(const StageSnapshot& now);
  static Kind kind_of(std::int64_t samples, double cpu_ns, double own_ns);
  bool may_come_back(Kind kind);
  void note(const StageSnapshot& now);

  std::int64_t samples_ = 0, waiting_ns_ = 0, cpu_ns_ = 0;  // when it was last judged
  std::int64_t looks_ = 0, looks_asleep_ = 0;               // of the last snapshot
  std::int64_t asleep_ = 0;  // looks that found a call asleep, less some for each that did not; 0 to kMostAsleep
  bool is_on_pool_ = false;  // at the last snapshot
  std::int64_t moves_ = 0;   // to the pool
  std::int64_t proofs_ = 0;  // in a row that it computes there
};

}  // namespace penstock::autotune
