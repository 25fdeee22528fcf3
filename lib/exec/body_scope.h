// BodyScope: says that the thread is inside a body, and of which engine. Scopes of one thread nest. So next() sees that
// it is called from inside a body.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/group.h"
#include "lib/exec/nested_run.h"
#include "lib/exec/stage_host.h"

namespace penstock::exec {

class BodyScope {
 public:
  // `group` and `context`: those of the call, if it has them. Both outlive the scope.
  explicit BodyScope(StageHost* host, Group* group = nullptr, const Context* context = nullptr) noexcept;
  ~BodyScope();
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

  // For a launcher whose calls share one thread of the system: from now on `innermost` is the innermost scope of this
  // thread. Returns the one before.
  static const BodyScope* exchange(const BodyScope* innermost) noexcept;

  static bool inside_any() noexcept;
  static int depth() noexcept;                            // bodies around the caller, one inside the other
  static bool inside(const StageHost* host) noexcept;     // this one or an outer one
  static bool inside(const BodyScope* scope) noexcept;    // only compared: it may be over
  static bool is_innermost(const Group& group) noexcept;  // whether the caller is in the call of this one itself
  // the innermost call of the run with this token, or that was made as this NestedRun, if it was; null: none
  static const BodyScope* find(const std::stop_token& run, const NestedRun* made_as) noexcept;
  const std::stop_token& run() const noexcept { return host_->facts().stop; }
  static bool is_unwanted() noexcept;  // what the innermost body gives, itself or with what a call around it gives
  // What the caller gives may not be whole: something has been left out, or a run that it reads has been cut. Notes
  // that in all runs around the caller that are not wanted, for they go on with it.
  static void note_cuts() noexcept;
  // A call of this group is not wanted, and something may have been left out because of that: notes it in all runs
  // that the caller is in and that are read in that call.
  static void note_cuts_inside(const Group& group) noexcept;
  const std::stop_token& stop() const noexcept;   // of the call: of a source's, its pass
  std::uint64_t sequence() const noexcept;        // the same
  static std::uint64_t sequence_here() noexcept;  // of the innermost call; 0 outside of all
  bool is_given_up() const noexcept;              // the same of this one. Any thread, while the scope lasts
  // For a run that the caller makes, in its innermost scope. Null where nobody could give up the calls around that run
  // while it is read: outside of all bodies, and where all of these calls run on the threads of consumers.
  static std::shared_ptr<NestedRun> nest();
  static std::uint32_t pass() noexcept;  // of the element that the innermost body works on; 0 outside of all

 private:
  const BodyScope* call_around() const noexcept;
  bool is_given_up_itself() const noexcept;
  void note(std::shared_ptr<NestedRun> run) const;
  void outlive(std::shared_ptr<NestedRun> run) const noexcept;

  StageHost* host_;
  Group* group_;
  const Context* context_;
  const BodyScope* outer_;
  mutable std::vector<std::shared_ptr<NestedRun>> nested_;  // of the scope's thread
};

}  // namespace penstock::exec
