// BodyScope: the thread's innermost body: which engine it belongs to. Lets next() see that it is called from inside a
// body.
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
  // Of a call that has them: its group, which outlives the scope, and its context.
  explicit BodyScope(StageHost* host, Group* group = nullptr, const Context* context = nullptr) noexcept;
  ~BodyScope();
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

  // For a launcher whose calls share a thread of the system's: those that are under way on it from now on. What they
  // were before.
  static const BodyScope* exchange(const BodyScope* innermost) noexcept;

  static bool inside_any() noexcept;
  static int depth() noexcept;                          // bodies around the caller, one inside the other
  static bool inside(const StageHost* host) noexcept;   // this one or an outer one
  static bool inside(const BodyScope* scope) noexcept;  // only compared: it may be over
  // the innermost call of the run with this token; null: none
  static const BodyScope* find(const std::stop_token& run) noexcept;
  static bool is_unwanted() noexcept;       // what the innermost body gives, itself or with what a call around it gives
  std::uint64_t sequence() const noexcept;  // of the call: of a source's, its pass
  bool is_given_up() const noexcept;        // the same of this one. Any thread, while the scope lasts
  // Of a run that is made by the caller, in its innermost scope; null where nobody can give up what is around it while
  // it is in there: outside of all, and where all of it runs on the threads of consumers.
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
