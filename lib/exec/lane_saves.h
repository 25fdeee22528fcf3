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
    std::int64_t number = 0;
    bool is_left_out = false;  // it was used up when the run was resumed
    std::int64_t to_skip = 0;  // slots that it had given then
  };
  Admission admit();
  void note(Slot&& save_point);  // before the next input
  void admit_end_of_pass();

  // Whether inputs that were open are still to get the places that they had.
  bool takes_back() const noexcept { return next_held_ < held_.size(); }
  // Of the next input: the one that it had, or that at the turn.
  std::size_t take_place();
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

 private:
  struct Held {
    std::int64_t number;
    std::size_t place;
    std::int64_t given;
  };
  std::int64_t oldest_of(std::span<Group* const> places) const;

  const StageTraits& traits_;
  Turns& turns_;
  NotedPoints noted_;
  std::int64_t admitted_ = 0, taken_ = 0;
  std::int64_t admitted_pass_ = 0, pass_ = 0;
  bool begins_pass_ = true;
  bool has_news_ = false;
  SaveClock saved_;  // by slots
  SavePace pace_;    // by places
  std::int64_t given_ = 0;
  Stamp stamp_;

  std::vector<Held> held_;  // by number
  std::size_t next_admitted_ = 0, next_held_ = 0;
  std::int64_t rest_ = 0;            // the number of the first input that had no place
  std::optional<Turns> turns_then_;  // when all that were open have their places
};

}  // namespace penstock::exec
