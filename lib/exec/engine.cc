#include "lib/exec/engine.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/resume_body.h"

namespace penstock::exec {
namespace {

// Whether a stage behind it did not want all of that pass.
bool was_cut(const EngineState& state, std::size_t stage, std::uint64_t mark) {
  const Plan& plan = *state.plan;
  std::size_t from = stage;
  while (!state.cuts.is_cut(from, mark)) {
    if (plan.edges.is_last(from) || plan.stages[plan.edges.out_of(from).to].is_merge()) return false;
    from = plan.edges.out_of(from).to;
  }
  return true;
}

bool has_missed(const EngineState& state, std::size_t stage) {
  const Resumes* const resumes = state.stages[stage]->resumes();
  if (resumes == nullptr) return false;
  const std::int64_t mark = resumes->ended_short();
  return resumes->has_missed() || (mark >= 0 && !was_cut(state, stage, static_cast<std::uint64_t>(mark)));
}

// The stage and all before it.
void resume_from(const EngineState& state, std::size_t stage, const SavePointRef& here) {
  Resumes* const resumes = state.stages[stage]->resumes();
  const auto inputs = resumes != nullptr ? resumes->resume_from(here) : std::vector{here};
  const auto edges = state.plan->edges.into(stage);
  for (std::size_t port = 0; port < edges.size(); ++port) resume_from(state, edges[port].from, inputs[port]);
}

}  // namespace

Engine::Engine(std::shared_ptr<const Plan> plan, const EngineSettings& settings, std::unique_ptr<Launcher> launcher)
    : state_(std::move(plan), settings, std::move(launcher)) {
  for (std::size_t i = 0; i < state_.plan->stages.size(); ++i) {
    state_.stages.push_back(
        std::make_unique<Stage>(state_.plan->stages[i], i, state_.passes_of(i).depth(), host_, state_.passes_of(i)));
    state_.neighbours.introduce(i, state_.stages[i]->traits(), state_.stages[i]->signs());
  }
  if (settings.resume.behind != nullptr) resume_by_position(*settings.resume.behind);
  if (settings.resume.at != nullptr) resume_from(state_, state_.stages.size() - 1, settings.resume.at);
}

// The last reference may be that of a thread that moves a knob, while a call into the engine is still to begin. Once a
// destructor has begun, even the class of the engine changes. So it is shut down before that.
std::shared_ptr<Engine> Engine::make(std::shared_ptr<const Plan> plan, const EngineSettings& settings,
                                     std::unique_ptr<Launcher> launcher) {
  struct ShutDownFirst {
    void operator()(Engine* engine) const {
      const std::unique_ptr<Engine> owner(engine);
      owner->shut_down();
      owner->host_.release_lost_permits();
    }
  };
  std::shared_ptr<Engine> engine(new Engine(std::move(plan), settings, std::move(launcher)), ShutDownFirst());
  engine->open();
  return engine;
}

// From the consumer to the source: a stage that is told that it may want nothing (take(0)) says so before anything is
// read.
void Engine::open() {
  if (settings().gate != nullptr) {
    const std::shared_ptr<PermitGate::Waiter> waiter(shared_from_this(), &host_);
    state_.at_gate = std::make_shared<PermitGate::Run>(waiter, settings().permits);
  }
  std::vector<Stage*> stages;
  for (auto& stage : state_.stages) stages.push_back(stage.get());
  state_.launcher->connect(stages, plan().edges, state_.outlet);
  for (std::size_t i = stages.size(); i-- > 0;) stages[i]->body().begin();
  for (Stage* stage : stages) stage->open();
  for (std::size_t i = stages.size(); i-- > 0;) stages[i]->wake();
  state_.ask_for_results(state_.outlet.top_up());
}

void Engine::resume_by_position(const Stamp& last) {
  for (auto& stage : state_.stages) stage->body().resume_at(last);
  if (plan().resume_stage < state_.stages.size()) state_.stages[plan().resume_stage]->resume_after(last);
}

bool Engine::has_missed_resumption() const noexcept {
  for (std::size_t i = 0; i < state_.stages.size(); ++i) {
    if (state_.stages[i]->body().has_missed_resumption() || has_missed(state_, i)) return true;
  }
  return false;
}

void Engine::request_stop() {
  state_.raise_stop();
  for (auto& stage : state_.stages) stage->stop();
}

void Engine::shut_down() {
  constexpr std::chrono::nanoseconds kFirstPause = std::chrono::microseconds(50),
                                     kLongestPause = std::chrono::milliseconds(4);
  if (is_down_) return;
  delivery_.free_reserve();
  request_stop();
  let_go_of_results();
  for (auto pause = kFirstPause; !state_.launcher->wait_for(pause); pause = std::min(2 * pause, kLongestPause))
    let_go_of_results();
  for (auto& stage : state_.stages) stage->stop();  // calls that a last token has still handed over
  state_.outlet.clear();
  for (auto& stage : state_.stages) stage->clear();
  is_down_ = true;
}

// Nobody will take these results, and calls under way may wait for what they hold, such as buffers of a user's pool.
void Engine::let_go_of_results() {
  try {
    state_.outlet.clear();
    for (auto& stage : state_.stages) stage->let_go_of_slots();
  } catch (const std::bad_alloc&) {  // again when the calls have ended
  }
}

// ------------------------------------------------------------------------------------------------ the consumer's side

Engine::Taken Engine::next(Slot& slot, std::int64_t deadline) {
  refuse_own_body("next()");
  return delivery_.next(slot, deadline) ? Taken::slot : Taken::timeout;
}

void Engine::refuse_own_body(const char* caller) const {
  if (!inside_own_body()) return;
  throw Error(ErrorCode::failed_precondition,
              std::string(caller) +
                  " was called from inside a function of the very run it asks: it would wait for "
                  "itself. Iterate another dataset there, or move the loop out of the function");
}

void Engine::begin_epoch(std::uint32_t epoch, std::uint32_t epochs) { state_.begin_epoch(std::nullopt, epoch, epochs); }

void Engine::abandon_epoch() {
  refuse_own_body("epoch()");        // while the epoch is still whole
  std::vector<std::uint64_t> lasts;  // by segment; of an epoch that has been read ahead, maybe
  for (std::size_t i = 0; i < state_.passes.size(); ++i)
    lasts.push_back(plan().segments[i].asked_by ? 0 : state_.passes[i]->halt());
  for (std::size_t i = state_.stages.size(); i-- > 0;) {
    const std::size_t segment = plan().segment_of[i];
    if (plan().segments[segment].asked_by) continue;
    const std::uint64_t first = segment + 1 == lasts.size() ? delivery_.sequence() : 0;
    if (!state_.is_head(i)) state_.stages[i]->cancel_pass(state_.passes[segment]->depth(), first, lasts[segment]);
  }
  state_.wake_heads();
  const std::uint64_t last = lasts.back();
  while (delivery_.sequence() <= last) {
    Slot unwanted;  // destroyed outside the outlet's lock
    next(unwanted);
  }
}

// ------------------------------------------------------------------------------------------------ from outside

void Engine::look_after(bool samples) {
  state_.look_after_calls();
  if (samples) {
    for (auto& stage : state_.stages) stage->watch_calls();
  }
  state_.outlet.nudge();
  state_.outlet.consumer_clock().read();
}

Snapshot Engine::snapshot() const {
  Snapshot snapshot;
  report_.snapshot(snapshot);
  return snapshot;
}

}  // namespace penstock::exec
