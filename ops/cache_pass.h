// What both caches share: the books of their input, and the places of elements, which are given in other passes.
#pragma once

#include <penstock/op.h>
#include <penstock/random.h>

#include <cstdint>
#include <utility>

#include "lib/core/left_out.h"

namespace penstock::ops {

// The input of a cache, which runs from its beginning when it is first wanted, and again when it was dropped.
class CacheInput {
 public:
  void drop() noexcept { is_running_ = false; }
  void begin_pass() noexcept {
    given_ = {};
    again_ = {};
  }
  std::int64_t given() const noexcept { return given_.slots; }  // in this pass, of the input or of what was remembered
  std::int64_t errors_given() const noexcept { return given_.errors; }
  // What the cache gives next, with its place. Stamp::sub would tell the rounds of a repeat before the cache apart, but
  // it tells where the pipeline that has filled the cache had its ops, too, and that may be another one.
  Slot given_in(const Stamp& pass, Slot slot) noexcept {
    slot.stamp.epoch = pass.epoch;
    slot.stamp.pass = pass.pass;
    slot.stamp.sequence = pass.sequence;
    slot.stamp.sub = mix64(static_cast<std::uint64_t>(given_.slots)) | 1;  // 0 would be the element itself
    given_.add(slot);
    return slot;
  }
  void save(StateWriter& out) const {
    out.number(given_.slots);
    out.number(given_.errors);
  }
  // Before anything comes.
  void restore(StateReader& in) {
    given_.slots = in.count();
    given_.errors = in.number(0, given_.slots);
    again_ = LeftOut(given_, false);
  }
  // It is wanted. True: it begins.
  bool want() noexcept {
    if (std::exchange(is_running_, true)) return false;
    ++runs_;
    again_ = LeftOut(given_, false);
    has_ended_ = false;
    return true;
  }
  // Its next one has come. Whether that is one of those that were given before it began.
  bool comes_again(const Slot& slot) noexcept {
    if (!again_.goes_on()) return false;
    if (!again_.take(slot)) fails_now_ = true;
    return true;
  }
  void end() noexcept {
    has_ended_ = true;
    if (std::exchange(again_, {}).goes_on()) ended_short_ = true;
  }
  bool has_ended() const noexcept { return is_running_ && has_ended_; }
  bool brings_more() const noexcept { return is_running_ && !has_ended_; }
  std::uint32_t runs() const noexcept { return runs_; }
  bool has_missed(bool keeps_numbers) const noexcept { return ended_short_ || (fails_now_ && !keeps_numbers); }
  // Whether another run of the same op, which runs it for the first time, gets the same.
  bool is_as_of_a_new_run() const noexcept { return runs_ <= 1; }

 private:
  std::uint32_t runs_ = 0;
  SlotCount given_;
  LeftOut again_;
  bool is_running_ = false;  // or has ended, and what it gave is still of use
  bool has_ended_ = false;
  bool ended_short_ = false, fails_now_ = false;
};

}  // namespace penstock::ops
