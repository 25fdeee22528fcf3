#include "tests/support/random_graphs/knob_mover.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace random_graphs {
namespace {

// How far to go where the knob itself would go much further.
std::int64_t most_of(const std::string& knob) {
  static const std::map<std::string, std::int64_t> most{{"parallelism", 16},   {"window", 64},   {"buffer", 64},
                                                        {"grain_ns", 200'000}, {"prefetch", 32}, {"memory", 100'000}};
  const auto found = most.find(knob);
  return found == most.end() ? 1 : found->second;
}

}  // namespace

std::int64_t draw_setting(const ps::Knob& knob, Random& random) {
  const std::int64_t high = std::min(knob.high, std::max(knob.low, most_of(knob.name)));
  return random.one_in(3) ? knob.low : random.between(knob.low, high);
}

// Each name as often as any other, however many stages have such a knob.
void move_one(std::vector<ps::Knob>& knobs, Random& random, Coverage::Moves& moves) {
  std::set<std::string> names;
  for (const ps::Knob& knob : knobs) names.insert(knob.name);
  const std::string name = *std::next(names.begin(), random.below(static_cast<std::int64_t>(names.size())));
  std::vector<ps::Knob*> candidates;
  for (ps::Knob& knob : knobs)
    if (knob.name == name) candidates.push_back(&knob);
  ps::Knob& knob = *random.pick(candidates);
  knob.set(draw_setting(knob, random));
  ++moves[name];
}

bool some_stage_waits_for_memory(const ps::Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.stages, [](const ps::StageSnapshot& stage) { return stage.waits_for_memory; });
}

KnobMover::KnobMover(std::shared_ptr<ps::detail::RunCore> run, std::uint64_t seed, Coverage& coverage)
    : run_(std::move(run)), random_(seed), coverage_(coverage), thread_([this] { work(); }) {}

KnobMover::~KnobMover() {
  stopping_ = true;
  thread_.join();
  coverage_.add_moves(moves_);
  coverage_.memory_waits += saw_wait_ ? 1 : 0;
}

// New handles now and then: a run that goes to another epoch may have others.
void KnobMover::work() {
  while (!stopping_) {
    std::vector<ps::Knob> knobs = run_->knobs();
    for (int i = 0; i < 50 && !stopping_; ++i) move_one(knobs, random_, moves_);
    saw_wait_ = saw_wait_ || some_stage_waits_for_memory(run_->snapshot());
    std::this_thread::sleep_for(std::chrono::microseconds(random_.below(100)));
  }
}

}  // namespace random_graphs
