// Summaries as JSON, in the form that scripts read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/exam/exam.h"

namespace penstock::exam {

// Null where the number is not finite: what was never reached.
nlohmann::ordered_json json_of(double value);

// What a round of real time and a summary say alike, in this order.
nlohmann::ordered_json figures_of(const Grade& grade);

// `mode`: virtual or real. One object for a line.
nlohmann::ordered_json json_of(const Summary& summary, const std::string& mode);

}  // namespace penstock::exam
