// EmittingCursor: what the cursors of ops have that answer through an Emitter: what was given and not pulled yet, and
// the failures of the op's own code.
#pragma once

#include <cstdint>
#include <utility>

#include "lib/exec/cursor.h"
#include "lib/exec/held_bytes.h"

namespace penstock::exec {

class EmittingCursor : public Cursor, protected Emitter {
 protected:
  explicit EmittingCursor(const CursorOp& op) : op_(op) {}

  // Which input of the op a failure is about that has this stamp; -1: none.
  virtual std::int64_t ordinal_of(const Stamp& stamp) const { return stamp.ordinal; }
  void drop_error(Slot&&) override { call_->count_dropped(1); }

  void add(Slot&& slot, std::int64_t ordinal) {
    call_->finish(slot, op_, ordinal);
    call_->measure(slot, op_, ordinal);
    pulled_.add(std::move(slot));
  }
  // What has just been thrown, in the place of its results.
  void add_failure(const Stamp& stamp) {
    Slot failure(Element(), stamp);
    failure.fail(detail::current_failure());
    add(std::move(failure), ordinal_of(stamp));
  }
  // False: it has failed.
  template <class Call> bool guarded(const Stamp& stamp, Call&& call) {
    try {
      call();
      return true;
    } catch (...) {
      add_failure(stamp);
      return false;
    }
  }

  const CursorOp op_;
  CursorCall* call_ = nullptr;  // while there is one
  PassKey pass_;
  Pulled pulled_;
  HeldBytes held_;
};

}  // namespace penstock::exec
