#include "lib/runtime/observer.h"

#include <utility>

#include "autotune/explain.h"

namespace penstock::runtime {
namespace {

std::vector<Knob> without_functions(std::vector<Knob> knobs) {
  for (Knob& knob : knobs) {
    knob.get = nullptr;
    knob.set = nullptr;
  }
  return knobs;
}

}  // namespace

Observer::Observer(std::vector<Knob> knobs, Execution execution)
    : knobs_(without_functions(std::move(knobs))), execution_(std::move(execution)) {}

void Observer::see(const Snapshot& now, const autotune::Policy* policy) {
  MutexLock lock(mutex_);
  history_.look(now);
  if (policy == nullptr) return;
  if (limits_ != policy->limits()) limits_ = policy->limits();
  if (policy->log().count() == decided_) return;
  decided_ = policy->log().count();
  decisions_.assign(policy->log().last().begin(), policy->log().last().end());
}

void Observer::stands_still(const std::string& text) {
  MutexLock lock(mutex_);
  if (stand_still_ != text) stand_still_ = text;
}

autotune::Window Observer::recent(const Snapshot& now) const {
  MutexLock lock(mutex_);
  return history_.recent(now);
}

autotune::Window Observer::whole(const Snapshot& now) const {
  MutexLock lock(mutex_);
  return history_.whole(now);
}

std::vector<Decision> Observer::decisions() const {
  MutexLock lock(mutex_);
  return decisions_;
}

Explanation Observer::explain(autotune::Window window) const {
  autotune::Facts facts{.window = std::move(window),
                        .decisions = {},
                        .limits = {},
                        .knobs = knobs_,
                        .serial = execution_.serial,
                        .inside_another_run = execution_.inside_another_run,
                        .tuned = execution_.tuned};
  std::string stand_still;
  {
    MutexLock lock(mutex_);
    facts.decisions = decisions_;
    facts.limits = limits_;
    stand_still = stand_still_;
  }
  Explanation explanation = autotune::explain(std::move(facts));
  explanation.stand_still = std::move(stand_still);
  explanation.rewrites = execution_.rewrites;
  return explanation;
}

}  // namespace penstock::runtime
