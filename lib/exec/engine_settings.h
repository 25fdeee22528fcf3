// What an engine is made with, and what it is told of the process around it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "lib/core/machine.h"
#include "lib/exec/nested_run.h"
#include "lib/exec/permit_gate.h"
#include "lib/exec/save_point.h"
#include "lib/exec/trace.h"

namespace penstock::exec {

// Where a run goes on; at the beginning of the first epoch where there is neither.
struct Resumption {
  const Stamp* behind = nullptr;  // by position; read during construction only
  SavePointRef at = nullptr;      // of the last stage's results
};

struct EngineSettings {
  std::int64_t memory_bytes = 0;
  std::int64_t permits = 1;        // workers of the arena
  bool permits_are_fixed = false;  // by the user
  std::uint32_t first_epoch = 0;
  std::uint32_t epochs = 0;
  std::uint64_t first_sequence = 0;  // of passes; for tests
  std::uint64_t seed = 0;
  std::uint32_t pass = 0;  // of an outer run, that passes are numbered from
  Resumption resume = {};
  std::optional<SaveSpacing> save_spacing = {};  // none: nobody has use for save points
  PermitGate* gate = nullptr;                    // none: no limit (serial executor, tests)
  bool has_priority = false;                     // the knob `priority` is there
  bool niceness_is_reversible = false;           // and may be moved: workers may be less urgent than the consumer
  const Machine* machine = &system_machine();
  std::int64_t open_io = 64;                 // blocking calls at once
  double cpu_budget = 1;                     // CPUs, until somebody tells more by set_surroundings()
  bool statistics = true;                    // false: only what the engine needs itself, to see what the rest costs
  std::shared_ptr<Trace> trace;              // none: nobody wants one
  std::shared_ptr<const NestedRun> nested;   // its calls lie in the call that made the run; none: they do not
  std::shared_ptr<const NestedRun> made_as;  // none: it was not made in a call of another run
};

// What the rest of the process leaves to a run, and what all its threads have used; see Snapshot.
struct Surroundings {
  double cpu_budget = 1;
  std::int64_t open_io_limit = 64;
  std::int64_t runs = 1;
  std::int64_t process_cpu_ns = -1;
  std::int64_t workers_cpu_ns = -1;
  std::int64_t clocks_read_at = -1;  // by Machine::now()
};

}  // namespace penstock::exec
