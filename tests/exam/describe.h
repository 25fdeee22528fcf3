// A process in words, and what happens on it.
#pragma once

#include <penstock/decision.h>

#include <string>

#include "tests/exam/run_record.h"
#include "tests/exam/spec.h"

namespace penstock::exam {

// Several lines: host, stages, consumer.
std::string describe(const ProcessSpec& process);
// One line, its end included: a move of a knob.
std::string describe(const Decision& decision);
// The same: how a run stood at that moment. `rate`: elements/s since the line before.
std::string describe(const Sample& sample, double rate);

}  // namespace penstock::exam
