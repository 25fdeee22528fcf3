// What a MergeState is asked, whoever feeds it (MergeBody, the cursor of a merge), and what it may not answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/op.h>
#include <penstock/random.h>

#include "lib/graph/traits.h"

namespace penstock::exec {

// Inputs count their elements alike: behind the merge those of different inputs must differ, or they would draw the
// same random numbers. The first input's stay as they are.
class InputStamps {
 public:
  explicit InputStamps(std::uint64_t merge) noexcept : key_(mix64(merge)) {}
  void apply(std::size_t input, Stamp& stamp) const noexcept {
    if (input > 0) stamp.sub = mix64(stamp.sub + mix64(key_ + input));
  }

 private:
  const std::uint64_t key_;  // mixed: by its number it would differ from another merge's by a few inputs
};

// What it wants. Error(invalid_argument) where that is an input that it does not have.
Want wanted_by(const MergeState& state, std::size_t inputs);

// Throws what an op has done wrong that said it had something to give, and gave nothing.
[[noreturn]] void fail_empty_gift();

// Of a state whose inputs run only when it asks for that (cache). Of any other one it says no.
class InputRuns {
 public:
  // keep_numbers: whether each slot of theirs is one of a list of positions, whatever fails.
  explicit InputRuns(const MergeState& state, bool keep_numbers = false)
      : asks_(dynamic_cast<const graph::AsksForInputs*>(&state)), keep_numbers_(keep_numbers) {}
  bool are_asked_for() const noexcept { return asks_ != nullptr; }
  bool have_missed() const noexcept { return asks_ != nullptr && asks_->has_missed(keep_numbers_); }
  // Whether they are to run, once more, since this was asked last.
  bool is_one_due();

 private:
  const graph::AsksForInputs* const asks_;
  const bool keep_numbers_;
  std::uint32_t runs_ = 0;
};

// Tells it of ends. One that goes on to want what has ended would be told for ever.
class EndsTold {
 public:
  // Error(internal) where the state goes in circles: it is to get no more of this pass.
  void tell(MergeState& state, std::size_t input, std::size_t inputs, Emitter& out);
  bool goes_in_circles(std::size_t inputs) const noexcept;
  // It has got a slot, or given one; or a pass begins.
  void begin_anew() noexcept { in_a_row_ = 0; }

 private:
  std::size_t in_a_row_ = 0;
};

}  // namespace penstock::exec
