// The cases of ../shared/peers/engine/autotune_tfdata.py, with its constants, its durations and its lines, so that
// penstock's rows can be laid beside tf.data's. bench/peers/autotune does that.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/exam/real/rounds.h"

namespace penstock::exam {

// S01, S02, S02b, S07, S08, S12, S14 and S15 as that script has them: tiny elements but in S12, no CPU time in calls
// that wait.
std::vector<Scenario> peer_cases();

// Runs each case with each policy in each round, and gives one line of JSON in the protocol of peers/engine/README.md
// for each run. `ids`: empty for all. With RealSettings::seconds no phase is longer than that. Throws
// std::invalid_argument for an unknown id.
void run_peer_cases(const std::vector<std::string>& ids, const RealSettings& settings,
                    const std::function<void(const std::string&)>& report);

}  // namespace penstock::exam
