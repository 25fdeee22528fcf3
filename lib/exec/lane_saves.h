// LaneSaves: what a nest knows of save points (Lanes).
//
// One says which inputs are open, at which places, and how many slots each has given; whose turn it is; and how many
// inputs have had a place. To go on there, inputs are read again from their own save point on: those that were open
// become datasets again, each without the slots that it has given, at the places that they had; the others that had a
// place are left out.
//
// Inputs are numbered as they are admitted, errors among them, over the whole run.
//
// Thread safety: with the stage's lock held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/exec/group.h"
#include "lib/exec/noted_points.h"
#include "lib/exec/save_point.h"
#include "lib/exec/stage_traits.h"
#include "lib/exec/turns.h"

namespace penstock::exec {

class LaneSaves final : public Resumes {
 public:
  // `turns`: of the lanes.
  LaneSaves(const StageTraits& traits, Turns& turns) noexcept : traits_(traits), turns_(turns) {}

  // What becomes of an input.
  struct Admission {
    SlotCount through;         // inputs up to it and with it
    bool is_left_out = false;  // it was used up when the run was resumed
    SlotCount given = {};      // slots that it had given then
  };
  // Throws where the run cannot be resumed: an input fails that did not.
  Admission admit(const Slot& input);
  void note(Slot&& save_point);  // before the next input
  void admit_end_of_pass(const Slot& mark);

  // Whether inputs that were open are still to get the places that they had.
  bool takes_back() const noexcept { return next_held_ < held_.size(); }
  // Of the next input: the one that it had, or that at the turn.
  std::size_t take_place(const SlotCount& through);
  void give_up() noexcept { next_held_ = held_.size(); }  // the pass ends before all of them have come
  void give() noexcept { ++given_; }
  void end_pass() noexcept {
    ++pass_;
    begins_pass_ = true;
    give_up();
  }
  bool begins_pass() const noexcept { return begins_pass_; }
  bool is_due() const;
  // One that is due where the lanes stand. Null: none is.
  SavePointRef due(std::span<Group* const> places);
  const Stamp& pass() const noexcept { return stamp_; }  // of the last one

  std::vector<SavePointRef> resume_from(const SavePointRef& here) override;
  std::int64_t ended_short() const noexcept override { return ended_short_; }

 private:
  struct Held {
    std::int64_t number;
    std::size_t place;
    SlotCount given;
  };
  std::int64_t oldest_of(std::span<Group* const> places) const;

  const StageTraits& traits_;
  Turns& turns_;
  NotedPoints noted_;
  SlotCount admitted_, taken_;
  std::int64_t admitted_pass_ = 0, pass_ = 0;
  bool begins_pass_ = true;
  bool has_news_ = false;
  SaveClock saved_;  // by slots
  SavePace pace_;    // by places
  std::int64_t given_ = 0;
  Stamp stamp_;

  std::vector<Held> held_;  // by number
  std::size_t next_admitted_ = 0, next_held_ = 0;
  LeftOut again_;  // inputs that had a place
  std::atomic<std::int64_t> ended_short_{-1};
  std::optional<Turns> turns_then_;  // when all that were open have their places
};

}  // namespace penstock::exec
