// TraceFile: a run's trace as Chrome's trace events, for ui.perfetto.dev and chrome://tracing.
//
//   pid 1; a track for each thread that ran calls, and one for the consumer's
//   "X"          calls of stages; the consumer's steps and waits
//   "b" "e"      calls that complete later
//   "s" "t" "f"  from the source's call over those that made it to the consumer's step: the last element that the step
//                took
//   "C"          every 10 or 20 ms: of each stage calls under way and elements waiting; elements ready, memory, CPU
//                slots
//   "i"          the controller's last 256 decisions: no more are kept (autotune/decision_log.h)
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <penstock/decision.h>

#include "lib/exec/stage_plan.h"
#include "lib/exec/trace.h"

namespace penstock::runtime {

class TraceFile {
 public:
  // Makes the file, or throws Error.
  explicit TraceFile(std::string path);

  // Once. What cannot be written is told on stderr.
  void write(exec::Trace& trace, const exec::Plan& plan, std::int64_t started_ns,
             const std::vector<Decision>& decisions);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace penstock::runtime
