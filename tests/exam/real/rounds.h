// The exam in real time: paired rounds. A round is one run with the oracle's settings and one with each policy, one
// after the other, each round beginning with another one; the oracle's run is what the others of its round are measured
// by.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/exam/exam.h"
#include "tests/exam/real/noise.h"

namespace penstock::exam {

struct RealSettings {
  std::vector<std::string> policies = {"penstock"};
  int rounds = 5;      // that count. Where more than these are discarded, the scenario is given up
  double seconds = 0;  // of each phase at most; more than 0: the runs are too short to be judged
  std::string pictures = "../shared/data/imagenet";
  bool is_judged() const { return seconds == 0; }
};

// One policy in one round.
struct RoundRow {
  std::string scenario, policy;
  int round = 1;
  std::string discarded;  // why; empty: it counts
  Grade grade;
  double rate = 0, oracle_rate = 0;  // elements/s over the last half of the last phase
  double mean_rate = 0;              // over the whole run, its start included
};

// Of one scenario and policy.
struct RealSummary {
  Summary summary;  // over the rounds that count
  double least_x = 0;
  int discarded = 0;
  bool is_shown = false;  // at least half of the rounds count
};

RealSummary summarise_rounds(const Scenario& scenario, const std::string& policy, const std::vector<RoundRow>& rows);

// `report_round`: of each, discarded ones included, as they end.
std::vector<RealSummary> sit_real(const Scenario& scenario, const RealSettings& settings,
                                  const std::function<void(const RoundRow&)>& report_round);

// As long as it runs in a round.
Scenario as_played(const Scenario& scenario, const RealSettings& settings);

// Seconds that the rounds take if none is discarded.
double seconds_of(const Scenario& scenario, const RealSettings& settings);

}  // namespace penstock::exam
