// Lines about the exam in real time: for people, and as JSON.
#pragma once

#include <string>

#include "tests/exam/real/rounds.h"

namespace penstock::exam {

// One line each, without its end. `is_judged`: whether the run was long enough to say what is met.
std::string text_of(const RoundRow& row, bool is_judged);
std::string json_of(const RoundRow& row, bool is_judged);
std::string text_of(const RealSummary& summary);
// As the lines of the virtual exam, with the rounds in place of its seeds.
std::string json_of(const RealSummary& summary);

}  // namespace penstock::exam
