// Replay: what a run that goes on at a checkpoint leaves out, because its consumer has had it.
//
//   Replay replay(checkpoint, plan);            // its engine begins at position() or save_point()
//   if (!replay.takes(slot)) deliver(slot);
//
// Thread safety: none; the consumer's thread, but position() and save_point() by whoever starts the engine.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include <penstock/checkpoint.h>

#include "lib/exec/save_point.h"
#include "lib/exec/stage_plan.h"

namespace penstock::runtime {

class Replay {
 public:
  Replay() = default;  // of nothing
  // Throws Error(data_loss) where the checkpoint's save point is none of the pipeline's.
  Replay(const Checkpoint& from, const exec::Plan& plan);

  // Where the engine begins: behind this element, or at this save point. None: at the epoch's beginning.
  const Stamp* position() const noexcept { return position_ ? &*position_ : nullptr; }
  const exec::SavePointRef& save_point() const noexcept { return behind_.at; }
  // That, and what the consumer has had since.
  const exec::SavePoint::Input& behind() const noexcept { return behind_; }
  // An element, an error or a save point: whether it is left out. Throws where something else comes than what was
  // delivered: nothing is known of what is behind that.
  bool takes(Slot& slot);
  // The last save point that was left out, once no more is, and what has come since: for a later checkpoint, in place
  // of behind(). Once.
  std::optional<exec::SavePoint::Input> take_found() noexcept;
  void check() const;  // throws that once more
  bool has_failed() const noexcept { return failure_ != nullptr; }

  // Whether the engine has begun somewhere, and is to say at a pass's end whether that place has come.
  bool awaits_place() const noexcept { return position_ || behind_.at; }
  // A pass has ended. Gives what the checkpoint stands behind and has not come, for an error's text.
  std::optional<std::string> end_pass(bool engine_has_missed, bool epoch_has_ended);

 private:
  bool comes_again(const Slot& slot);

  std::int64_t delivered_ = 0, errors_since_ = 0;  // by the checkpoint
  std::optional<Stamp> last_;
  exec::SavePoint::Input behind_;
  std::optional<Stamp> position_;

  exec::SavePoint::Input found_;  // while slots are left out: what came with them
  LeftOut again_;                 // by number,
  std::optional<Stamp> until_;    // or up to and with this element
  std::int64_t errors_ = 0;       // and then so many errors
  std::exception_ptr failure_;    // what comes again is something else
};

}  // namespace penstock::runtime
