#include "tests/exam/real/timing.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace penstock::exam {
namespace {

constexpr Time kPhase = 5 * kSecond;

std::vector<Time> lengths_of(const Scenario& scenario) {
  std::vector<Time> ends = phases(scenario);
  ends.push_back(scenario.duration);
  std::vector<Time> lengths;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) lengths.push_back(ends[i + 1] - ends[i]);
  return lengths;
}

// Where each old beginning of a phase lies now.
class Moved {
 public:
  Moved(std::vector<Time> from, const std::vector<Time>& lengths) : from_(std::move(from)) {
    for (const Time length : lengths) to_.push_back(to_.back() + length);
  }
  Time operator()(Time time) const {
    const auto found = std::ranges::find(from_, time);
    return found == from_.end() ? time : to_[static_cast<std::size_t>(found - from_.begin())];
  }
  Time end() const { return to_.back(); }

 private:
  std::vector<Time> from_, to_ = {0};
};

void move(Schedule& schedule, const Moved& moved) {
  for (Schedule::Step& step : schedule.steps) step.from = moved(step.from);
}

// Seconds of the last phase, or of the whole, that a bar looks at.
double seconds_needed(const Bars& bars) {
  double seconds = 0;
  const auto needs = [&](bool is_asked, double time) { seconds = is_asked ? std::max(seconds, time) : seconds; };
  needs(bars.yield > 0, 8);
  needs(bars.in_flight_after_5s != kNoBar || bars.parallelism != kNoBar, 7);
  needs(bars.in_flight_later != kNoBar, 17);
  needs(bars.depth_at_end != kNoBar, 21);
  needs(bars.gives_back_s != kNoBar, bars.gives_back_s + 1);
  needs(bars.back_as_before != kNoBar, 12);
  needs(bars.below_best_s != kNoBar, 12);
  needs(bars.changes_per_min != kNoBar || bars.worst_second > 0, 120);
  return seconds;
}

}  // namespace

Scenario with_phases(const Scenario& scenario, const std::vector<Time>& lengths) {
  const std::vector<Time> from = phases(scenario);
  if (lengths.size() != from.size())
    throw std::invalid_argument("with_phases: " + scenario.id + " has " + std::to_string(from.size()) + " phases");
  const Moved moved(from, lengths);
  Scenario result = scenario;
  result.duration = moved.end();
  move(result.process.host.quota, moved);
  move(result.process.host.foreign, moved);
  for (ChainSpec& chain : result.process.chains) {
    for (ConsumerPhase& phase : chain.consumer) phase.from = moved(phase.from);
    for (StageSpec& stage : chain.stages) {
      move(stage.blocked_times, moved);
      move(stage.cpu_times, moved);
    }
  }
  return result;
}

Scenario shortened(const Scenario& scenario) {
  std::vector<Time> lengths = lengths_of(scenario);
  const Time last = std::min(lengths.back(), std::max(kPhase, static_cast<Time>(seconds_needed(scenario.bars) * 1e9)));
  for (Time& length : lengths) length = std::min(length, kPhase);
  lengths.back() = last;
  return with_phases(scenario, lengths);
}

Scenario with_phases_at_most(const Scenario& scenario, Time most) {
  std::vector<Time> lengths = lengths_of(scenario);
  for (Time& length : lengths) length = std::min(length, most);
  return with_phases(scenario, lengths);
}

}  // namespace penstock::exam
