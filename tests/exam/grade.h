// Grade: one run of a scenario against its bars and against the hard gates.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autotune/policy.h"
#include "tests/exam/ablation.h"
#include "tests/exam/oracle.h"
#include "tests/exam/run_record.h"
#include "tests/exam/scenario.h"

namespace penstock::exam {

struct Grade {
  double x = 0;               // rate / oracle's, over the last half of each phase
  double yield = 0;           // delivered / what the oracle would have
  double t90_s = 0;           // from the start
  double recover_s = 0;       // the worst one after a change of the world
  double bytes = 0, cpu = 0;  // ratios to the oracle's
  double in_flight_max = 0;
  double changes_per_min = 0;
  double step_p95 = 0;
  // share of the seconds after t90 in which explain() names the true bottleneck; 1 where it was not asked
  double explained = 1;
  std::map<std::string, int> wrongly_named;  // seconds, by what it named and what it should have
  std::vector<std::string> missed;           // bars
  std::vector<std::string> broken;           // gates
};

// What is known of a phase before anybody sits the exam.
struct PhaseFacts {
  Optimum optimum;
  std::vector<Resource> bottlenecks;  // empty: not asked, or nothing helps
};

// By name; "oracle" sets the best knobs there are.
std::unique_ptr<autotune::Policy> policy_of(const std::string& name, const Scenario& scenario,
                                            const std::vector<PhaseFacts>& facts);

// A run that is over. `facts`: of the scenario's phases.
Grade grade(const Scenario& scenario, const std::vector<PhaseFacts>& facts, const RunRecord& run);
// What the run itself reached in each phase: the facts for other runs, where it was the oracle's.
std::vector<PhaseFacts> facts_of(const Scenario& scenario, const RunRecord& run);

// The facts, but where the world does not change the rate is what the oracle's settings reach in this very seed: both
// get the same elements, so luck is in both. Behind a change the elements are not the same ones; and where these
// settings give nothing, the known rate stands.
std::vector<PhaseFacts> paired(const Scenario& scenario, std::vector<PhaseFacts> facts, std::uint64_t seed);

// A run in virtual time.
Grade grade(const Scenario& scenario, const std::vector<PhaseFacts>& facts, const std::string& policy,
            std::uint64_t seed);

}  // namespace penstock::exam
