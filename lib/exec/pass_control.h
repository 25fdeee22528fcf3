// PassControl: which pass the source runs, and when it ends.
//
// A chain with K repeats is an odometer: the source runs pass after pass, the counts of the repeats are its digits (digit 0 belongs to
// the repeat nearest to the source), the epoch is its last one. The end of a pass travels down the chain as a mark with a
// level: how many repeats ended with it. An op with d repeats upstream takes marks of level >= d for the end of its input and
// ignores the others. So the source starts the next pass at once, without waiting for a repeat far down the chain to ask.
//
// The price is that it may have begun a pass which nobody wants: behind `take(5).repeat(3)` every pass is cut short. Whoever has
// enough calls end(): the digits below its depth are wound up, and the source goes on with the next pass of that depth. Sequence
// numbers count every pass begun; they tell an outdated request from a fresh one. Pass numbers seed random orders, so they must not
// depend on how far the source had run ahead: they are made of the digits alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <penstock/op.h>

namespace penstock::exec {

class PassControl {
 public:
  // counts: of the repeats, nearest to the source first; -1: for ever. epochs: how many to run without being asked (0: 1).
  PassControl(std::vector<std::int64_t> counts, std::uint32_t first_epoch, std::uint32_t epochs);

  // A pass of the source. Its stamp has epoch, pass and sequence set.
  struct Pass {
    Stamp stamp;
    bool fresh = false;  // not begun before
  };

  // The pass to run now; false if there is none until begin_epoch().
  bool current(Pass& pass);
  bool idle() const;

  // Whether somebody wants the current pass to end early; cheap.
  bool cut_requested() const;

  // Ends the current pass, by itself or because it was cut, and gives its mark.
  Slot close();

  // The pass with this sequence is not wanted any more by an op with `depth` repeats upstream. Outdated requests do nothing.
  void end(std::size_t depth, std::uint32_t sequence);

  // After the last epoch asked for.
  void begin_epoch(std::uint32_t epoch, std::uint32_t epochs);

  // Ends the epoch that is being read, and begins no other. The mark of the pass with the sequence returned is the last to come.
  std::uint32_t halt();

  // Winds on to the given pass of the first epoch, as if the passes before it had ended by themselves; called once, before
  // anything is read. Error(data_loss) if the epoch has no such pass.
  void wind_to(std::uint32_t pass);

  std::size_t depth() const noexcept { return counts_.size(); }

 private:
  std::uint8_t advance(std::size_t from);
  std::uint32_t pass_number() const;

  const std::vector<std::int64_t> counts_;

  mutable std::mutex mutex_;  // all below; held for a few instructions, never across a call out
  std::vector<std::int64_t> digits_;
  std::vector<std::int64_t> closed_;  // [d]: sequence of the last pass whose mark had a level >= d; -1: none. Falls with d
  Stamp now_;
  bool fresh_ = true;
  std::uint32_t epochs_left_;
  bool cut_ = false;
  std::size_t cut_depth_ = 0;
};

}  // namespace penstock::exec
