// Which fixed settings the oracle tries.
#pragma once

#include <vector>

#include "tests/exam/oracle.h"

namespace penstock::exam {

// The full product of the knobs that matter for the rate.
std::vector<Settings> all_settings(const ChainSpec& chain, std::int64_t permits);

// For one knob after another, the values that may be tried in its place.
struct Choice {
  std::string knob;
  int stage;
  std::vector<std::int64_t> values;
  int chain = 0;
};
std::vector<Choice> all_choices(const ChainSpec& chain, std::int64_t permits);
// Of these, those that the full product leaves out: priority, CPU permits, buffers.
std::vector<Choice> further_choices(const ChainSpec& chain, std::int64_t permits);

// What may be tried to hold fewer bytes: each choice alone, and a stage's window together with the buffer behind it,
// for elements wait in either.
std::vector<Settings> small_moves(const ChainSpec& chain, std::int64_t permits);

// Not more calls that wait than may be open.
bool are_allowed(const Settings& settings, const ProcessSpec& process);

// How many datasets a nest opens ahead is not for a controller to say: each may be a file.
bool has_window(const StageSpec& stage);

// The settings with one of them in place of what they say about that knob.
Settings with(const Settings& settings, const Setting& other);

}  // namespace penstock::exam
