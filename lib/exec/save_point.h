// SavePoint: how to get a stream that goes on at a place in the output of a stage.
//
// Sources give one now and then, as a slot among their elements. On its way to the consumer each stage replaces it by
// one of its own, which refers to that of its input; one whose calls need no state hands it on. A checkpoint is the
// last one that the consumer has passed, and how many slots it has had since. Where they stand decides nothing but what
// a resume costs. Numbers count elements and errors (LeftOut).
//
// A stage that cannot go on in the middle of a pass hands on only what comes before a pass has begun: the rest is left
// out further down. Null: the beginning of the epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/slot.h>
#include <penstock/state.h>

#include "lib/core/left_out.h"

namespace penstock::exec {

struct SavePoint;
using SavePointRef = std::shared_ptr<const SavePoint>;

// Numbers of inputs that an op holds, in its order. Large buffers hold many, so they are kept as varints.
struct HeldNumbers {
  std::string varints;
  std::int64_t count = 0;
  std::int64_t base = 0;  // which is taken from each

  static HeldNumbers of(const std::vector<std::int64_t>& numbers);
  std::vector<std::int64_t> list() const;
};

struct SavePoint {
  struct Input {
    SavePointRef at;
    SlotCount since = {};  // slots behind it that are used up
  };
  std::vector<Input> inputs;  // of a source: none
  HeldNumbers held;           // of the slots used up of the one input, those that the op holds: read again
  std::string state;          // StateWriter's

  // Without those of inputs.
  std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(held.varints.capacity() + state.capacity()); }
};

// After so many slots at least, if so much time has passed; after the longest time in any case. What is between two of
// them is made again by a run that is resumed there; each costs some microseconds.
struct SaveSpacing {
  std::int64_t slots = 256;
  std::int64_t shortest_ns = 1'000'000;
  std::int64_t longest_ns = 10'000'000;
};

// When the last one was given.
struct SaveClock {
  std::int64_t ns = 0, slots = 0;

  bool is_due(const SaveSpacing& spacing, std::int64_t now, std::int64_t given) const noexcept {
    const std::int64_t time = now - ns;
    return given > slots &&
           (time >= spacing.longest_ns || (time >= spacing.shortest_ns && given - slots >= spacing.slots));
  }
};

// How soon a stage is asked again: a list of what it holds, or of its inputs, takes time in proportion, of which a
// hundredth may be taken.
class SavePace {
 public:
  bool allows(const SaveSpacing& spacing, std::int64_t now) const noexcept {
    return spacing.shortest_ns == 0 || now - saved_ns_ >= pause_ns_;
  }
  void note(std::int64_t begin, std::int64_t now, std::int64_t held) noexcept;

 private:
  std::int64_t saved_ns_ = 0, pause_ns_ = 0;
  double each_ns_ = 0;  // that one of the list takes: no more than twice the last, which others may have interrupted
};

// How a stage goes on where it stood.
class Resumes {
 public:
  virtual ~Resumes() = default;
  // A run goes on at this save point of the stage's results, or at the beginning of the epoch. Before anything of it
  // runs. Gives those of the inputs. Throws Error(data_loss) where it is none of such a stage.
  virtual std::vector<SavePointRef> resume_from(const SavePointRef& here) = 0;
  // Whether its pass has ended by itself without that place. Of a source or a merge. Any thread.
  virtual bool has_missed() const noexcept { return false; }
  // Others do not know whether a pass was cut: of one that has ended without that place, the mark's sequence; -1: none
  // has. Any thread.
  virtual std::int64_t ended_short() const noexcept { return -1; }
};

inline Slot save_point_slot(SavePointRef point, Stamp pass) {
  pass.ordinal = -1;
  pass.sub = 0;
  Slot slot(Element(std::move(point)), pass);
  slot.set_kind(Slot::Kind::save_point);
  return slot;
}

// Error(data_loss): no run of the pipeline has written it. `why`: where there is more to say.
[[noreturn]] void fail_to_resume(const std::string& why = {});
// Throws that unless it is one of a stage with so many inputs.
void check_inputs(const SavePoint& point, std::size_t inputs);

// The digits of a pass (PassControl): as many as there are.
void write_digits(const std::vector<std::int64_t>& digits, StateWriter& out);
std::vector<std::int64_t> read_digits(std::size_t count, StateReader& in);

inline const SavePointRef& save_point_of(const Slot& slot) { return slot.value.get<SavePointRef>(); }

}  // namespace penstock::exec
