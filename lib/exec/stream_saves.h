// StreamSaves: what a stream stage knows of save points, and how it takes up what it was at one.
//
// To take it up, it reads what its input gives behind the input's save point again: of the slots that were used up
// those that the op held, in place of calling the op with them; what the op says of itself then makes its state. A save
// point that passes meanwhile stands among what the op held, so it may be the one to begin at for the next save point.
//
// Inputs are numbered as Emitter::input_number() does. In the pass in which a run is resumed number 0 is the first one
// behind the input's save point.
//
// Thread safety: none; the stage's run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/noted_points.h"
#include "lib/exec/packet.h"
#include "lib/exec/save_point.h"

namespace penstock::exec {

class BodyHost;

class StreamSaves final : public Resumes {
 public:
  struct Traits {
    bool is_as_new_after_output = false;  // StreamOp's
    bool input_keeps_numbers = false;     // Plan's
  };
  // The state and the host live longer.
  StreamSaves(StreamState& state, BodyHost& host, const Traits& traits) noexcept
      : state_(state), host_(host), traits_(traits) {}

  // ---- to go on at a save point
  std::vector<SavePointRef> resume_from(const SavePointRef& here) override;
  std::int64_t ended_short() const noexcept override { return ended_short_; }
  bool is_resumed() const noexcept { return is_resumed_; }  // in the pass being read
  bool takes_up() const noexcept { return again_.goes_on(); }
  void keep(Slot&& slot);  // the next one while takes_up(): an element or an error
  // Gives the state what it was, unless something is still to be taken up, or nothing is left to give. What the state
  // throws, or leaves over, ends the run.
  void restore() noexcept;
  std::int64_t held_bytes() const noexcept;

  // ---- of the stage's own
  void end_pass(const Slot& mark) noexcept;
  // One of the input's has come, before the input with this number.
  void note(SavePointRef point, std::int64_t next);
  // The state is given an input; then it gives an output.
  void note_input(const Slot& slot) noexcept {
    is_as_new_ = false;
    errors_ += !slot.is_element();
  }
  void note_output() noexcept { is_as_new_ = traits_.is_as_new_after_output; }
  // Whether one is due though none has just come: it could not be given then.
  bool is_due_late() const noexcept { return is_as_new_ && has_news_; }
  // One for before the input with this number, if there can be one. Ops list what they hold in each, so there is none
  // before a hundred times as much time as that took has passed.
  SavePointRef point(std::int64_t next);

 private:
  struct Wanted {
    std::int64_t number;
    std::size_t place;  // in the op's order
  };
  bool is_worth_it() const;
  bool save(StateWriter& out);
  void put_in_its_order() noexcept;
  void forget_what_was() noexcept;

  StreamState& state_;
  BodyHost& host_;
  const Traits traits_;
  bool is_as_new_ = true;    // the state
  NotedPoints noted_;        // of this pass: from the last one before what is held
  bool has_news_ = false;    // since one was given
  std::int64_t errors_ = 0;  // of the pass, among its inputs
  SavePace pace_;

  // What is taken up.
  bool is_resumed_ = false;
  LeftOut again_;
  std::int64_t next_ = 0;                // the number of the next one of these
  std::vector<Wanted> wanted_;           // what was held, by number
  std::vector<StateReader::Held> kept_;  // of these, as far as they have come
  std::optional<std::string> saved_;     // of the state; none: as new
  std::int64_t held_bytes_ = 0;
  std::atomic<std::int64_t> ended_short_{-1};
};

}  // namespace penstock::exec
