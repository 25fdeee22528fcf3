// MergeSaves: what a merge knows of save points, and how it goes on at one.
//
// One says which pass the merge is in, what its state is, and of each input its own save point, with what was taken
// behind that (PortQueues).
//
// Thread safety: has_missed() any thread; else none: the merge's run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/body.h"
#include "lib/exec/merge_asks.h"
#include "lib/exec/port_queues.h"
#include "lib/exec/save_point.h"

namespace penstock::exec {

class MergeSaves final : public Resumes {
 public:
  // All of it lives longer. Inputs that are asked for run from their beginning again, and the state leaves out what it
  // had of them; others are in the merge's passes.
  MergeSaves(MergeState& state, PortQueues& ports, PassControl& passes, BodyHost& host, const InputRuns& runs) noexcept
      : state_(state), ports_(ports), passes_(passes), host_(host), input_runs_(runs) {}

  std::vector<SavePointRef> resume_from(const SavePointRef& here) override;
  bool has_missed() const noexcept override { return ports_.has_missed(); }

  bool is_resumed() const noexcept { return is_resumed_; }  // in the pass that comes next
  // The state has begun a pass: gives it what it was, in the pass in which the run goes on.
  void begin_pass();
  void end_pass() noexcept;                          // what was is of no use for another one
  void note_step() noexcept { is_as_new_ = false; }  // of the state, before it
  // Give one that is due. At a pass's beginning at once, for nothing else tells where it begins; else behind what the
  // run gives: they are one group of the next stage then.
  void begin_run(const Stamp& pass, Slots& out);
  bool is_due_behind() const noexcept { return is_due_behind_; }
  void end_run(const Stamp& pass, Slots& out);

 private:
  bool is_due();
  bool save(StateWriter& out);
  void give(const Stamp& pass, Slots& out);

  MergeState& state_;
  PortQueues& ports_;
  PassControl& passes_;
  BodyHost& host_;
  const InputRuns& input_runs_;
  bool begins_pass_ = false;  // no run of it has begun
  bool is_as_new_ = true;     // the state
  bool is_due_behind_ = false;
  SaveClock saved_;  // by runs
  SavePace pace_;    // by inputs
  std::int64_t runs_ = 0;
  bool is_resumed_ = false;              // in the pass that comes first
  std::optional<std::string> restores_;  // of the state; none: as new
};

}  // namespace penstock::exec
