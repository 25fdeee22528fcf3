#include "lib/runtime/claims.h"

#include <algorithm>
#include <utility>

namespace penstock::runtime {
namespace {

constexpr double kBusyShare = 0.88;  // of what it may have: a run that uses that much wants more
constexpr double kMargin = 1.25;     // what one that does not may come to use before the next look

struct Use {
  std::int64_t computing_ns = 0, waiting_ns = 0;  // call time
  double calls_allowed = 0;                       // of stages that wait
  bool waits_for_cpu = false;
};

Use use_of(const Snapshot& now) {
  Use use;
  for (const StageSnapshot& stage : now.stages) {
    if (stage.completes_later) continue;  // it holds neither a CPU nor a thread
    (stage.on_pool ? use.waiting_ns : use.computing_ns) += stage.slot_ns;
    if (stage.on_pool) use.calls_allowed += static_cast<double>(stage.parallelism);
    use.waits_for_cpu = use.waits_for_cpu || stage.waits_for_cpu_slot;
  }
  return use;
}

}  // namespace

// A stage that has moved takes all of its call time along: for once that is none, not a negative one.
void RunClaims::look(const Snapshot& now, double cpus) {
  const Use use = use_of(now);
  const double time =
      static_cast<double>(std::max<std::int64_t>(now.time_ns - std::exchange(time_ns_, now.time_ns), 1));
  const auto per_time = [time](std::int64_t before, std::int64_t after) {
    return std::max(0.0, static_cast<double>(after - before) / time);
  };
  const double computing = per_time(std::exchange(computing_ns_, use.computing_ns), use.computing_ns);
  const double waiting = per_time(std::exchange(waiting_ns_, use.waiting_ns), use.waiting_ns);
  cpus_ = {cpus, use.waits_for_cpu ? cpus : kMargin * computing};
  blocking_.wish = kMargin * waiting;
  if (waiting > kBusyShare * use.calls_allowed) blocking_.wish = 2 * waiting;  // controllers double
}

}  // namespace penstock::runtime
