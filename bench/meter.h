// What a stretch of a program costs: wall time, CPU time of the whole process, and what the rest of
// the machine burnt meanwhile.
//
//   Meter meter;
//   work();
//   const Cost cost = meter.stop();
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::bench {

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;          // user and system, all threads, the ended ones included
  double foreign_cores = 0;  // cores that other processes kept busy meanwhile
  double stolen_cores = 0;   // that other guests of the same host had meanwhile, where this is a virtual machine
};

class Meter {
 public:
  Meter();
  Cost stop() const;

 private:
  std::int64_t wall_ns_;
  std::int64_t cpu_ns_;
  double machine_s_;
  double stolen_s_;
};

// The middle and the ends of some measurements. Needs at least one.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};
Spread spread_of(std::vector<double> values);

// Keeps the cheaper one by CPU time.
void keep_cheaper(Cost& best, const Cost& other);

}  // namespace penstock::bench
