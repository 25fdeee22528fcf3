// EngineState: what the parts of an engine share: the plan, its stages and their edges, the outlet, memory, passes, and
// the launcher that runs them.
//
// Thread safety: each member's own. The stages are made once, before anything runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "lib/exec/engine_settings.h"
#include "lib/exec/first_cuts.h"
#include "lib/exec/launcher.h"
#include "lib/exec/neighbours.h"
#include "lib/exec/outlet.h"
#include "lib/exec/pass_control.h"
#include "lib/exec/stage.h"

namespace penstock::exec {

struct EngineState {
  EngineState(std::shared_ptr<const Plan> of, const EngineSettings& with, std::unique_ptr<Launcher> by);

  const std::shared_ptr<const Plan> plan;
  const EngineSettings settings;
  const std::int64_t started_ns;
  MemoryBudget memory;
  std::vector<std::unique_ptr<PassControl>> passes;  // by segment
  FirstCuts cuts;
  Outlet outlet;
  Neighbours neighbours;
  std::vector<std::unique_ptr<Stage>> stages;
  PermitGate::RunRef at_gate;  // none without a gate
  std::stop_source stop;
  std::atomic<bool> stopped{false};
  std::atomic<bool> gives_way{false};  // its workers are to be less urgent than the consumer: the knob `priority`
  // its nodes refer to the stages, and what it runs to all of the engine: ~Engine() takes it down first
  std::unique_ptr<Launcher> launcher;

  const Machine& machine() const noexcept { return *settings.machine; }
  void raise_stop();                           // nothing new begins
  void offer_memory();                         // to stages that wait for some, if it has become free since
  void ask_for_results(std::int64_t credits);  // as the outlet says
  // Nothing is left of what the stage gave: it, or the nearest stages before it that reserve, may go on without room.
  void tell_nearest_that_reserves(std::size_t stage);
  PassControl& passes_of(std::size_t stage) const noexcept { return *passes[plan->segment_of[stage]]; }
  bool is_head(std::size_t stage) const noexcept { return stages[stage]->traits().is_head; }
  bool look_after_calls();  // now and then: see Stage. True: something could leave
  // In the segments whose passes `asked_by` asks for: a merge that runs its inputs once; none: the run.
  void begin_epoch(std::optional<std::size_t> asked_by, std::uint32_t epoch, std::uint32_t epochs);
  // Nothing of this pass is wanted from stage `last`, up to the head of its segment.
  void let_go_of_pass(std::size_t last, const PassCut& cut);
  void wake_heads();
};

}  // namespace penstock::exec
