// Plot: rate, calls in flight and bytes over time of some runs, a row for each scenario, as SVG.
#pragma once

#include <string>
#include <vector>

#include "tests/exam/grade.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {

struct Curve {
  std::string policy;
  std::vector<double> rate, calls, bytes;  // one value for each equal step of time
};

struct Figure {
  std::string title;
  double seconds = 0;
  std::vector<double> best;  // the oracle's rate at the same steps
  std::vector<Curve> curves;
};

// Seed 1 of each policy.
Figure figure_of(const Scenario& scenario, const std::vector<PhaseFacts>& facts,
                 const std::vector<std::string>& policies);

std::string svg_of(const std::vector<Figure>& figures);

}  // namespace penstock::exam
