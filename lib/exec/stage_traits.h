// StageTraits: what a stage is from its beginning to its end. The parts of the stage read it, and nobody changes it.
#pragma once

#include <cstdint>

#include "lib/core/machine.h"
#include "lib/exec/stage_host.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

struct StageTraits {
  StageTraits(const StagePlan& of, std::size_t number, StageHost& engine)
      : plan(of),
        index(number),
        host(engine),
        memory(engine.facts().memory),
        neighbours(engine.facts().neighbours),
        machine(engine.facts().machine),
        launcher(engine.facts().launcher),
        saves(engine.facts().saves),
        keeps_statistics(engine.facts().keeps_statistics),
        one_at_a_time(engine.facts().launcher.one_at_a_time()),
        is_source(neighbours.edges().is_source(number)),
        is_head(is_source || of.is_merge()),
        makes_slots(is_head || of.is_nest()),
        begins_with_few(!of.serial && !of.passes_memory_on && of.gives.bytes == 0 && of.form != Form::completes_later),
        keeps_near(of.keeps_near()),
        keeps_passes_apart(of.keeps_passes_apart()) {}

  const StagePlan plan;
  const std::size_t index;
  HostUnderLock& host;
  MemoryBudget& memory;
  const Neighbours& neighbours;
  const Machine& machine;
  const Launcher& launcher;
  const SaveSpacing* const saves;  // none: no save point is of use
  const bool keeps_statistics;
  const bool one_at_a_time;
  const bool is_source;
  const bool is_head;             // of a segment: it makes its slots by itself, as far as there is room for them
  const bool makes_slots;         // a head, or a nest: its calls are measured by what they give, not by their inputs
  const bool begins_with_few;     // calls, until one has given a result or a hint has told its size
  const bool keeps_near;          // no element begins that is a window or more behind the oldest one that is not done
  const bool keeps_passes_apart;  // none begins behind a mark while one before it is not done
};

// What a controller moves.
struct StageKnobs {
  std::int64_t parallelism;
  std::int64_t window;
  std::int64_t buffer;
  std::int64_t grain_ns = 20'000;
};

}  // namespace penstock::exec
