// Plan: how the threads that wait are divided among the stages that wait.
//
// One rate serves all: the highest at which what every stage needs by Little's law fits. Nothing is gained by giving one stage more than
// that rate needs, because the others could not follow.
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::autotune {

// Calls for a load of so many on average: square-root staffing.
double staffing(double calls);

// `call_s`: by stage, v (k + w0), the time of its calls for one element delivered; 0: it needs none. The highest rate at which these stages have no
// more than `most` calls altogether; each that needs any has one at least, even where that is more. Infinite where none does.
double affordable_rate(const std::vector<double>& call_s, double most);

// The same, found again only where something has changed.
class AffordableRate {
 public:
  double rate(const std::vector<double>& call_s, double most);

 private:
  std::vector<double> call_s_;
  double most_ = -1, rate_ = 0;
};

// Of one stage at that rate: one at least.
std::int64_t calls_at(double rate, double call_s);

}  // namespace penstock::autotune
