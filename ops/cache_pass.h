// What both caches share: the books of their input, and the places of elements, which are given in other passes.
#pragma once

#include <penstock/op.h>
#include <penstock/random.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace penstock::ops {

// Where the input is repeated, its rounds differ by their passes. Behind the cache there is one for all of them.
inline void forget_round(Stamp& stamp) noexcept {
  if (stamp.pass != 0) stamp.sub = mix64(stamp.sub + mix64(stamp.pass)) | 1;  // 0 would be the element itself
  stamp.pass = 0;
}

// The input of a cache, which runs from its beginning when it is first wanted, and again when it was dropped.
class CacheInput {
 public:
  void drop() noexcept { is_running_ = false; }
  void begin_pass() noexcept { errors_given_ = 0; }
  void give(const Slot& slot) noexcept { errors_given_ += !slot.is_element(); }
  void save(StateWriter& out) const { out.number(errors_given_); }
  void restore(StateReader& in) { errors_given_ = errors_left_ = in.count(); }  // before anything comes
  // It is wanted. True: it begins.
  bool want() noexcept {
    if (std::exchange(is_running_, true)) return false;
    ++runs_;
    taken_ = 0;
    errors_left_ = errors_given_;
    has_ended_ = false;
    return true;
  }
  // Its next one has come. Whether that is among the first ones, so many of which were given before. Where it is an
  // error that was none, their numbers tell nothing.
  bool take_among(std::uint64_t given, const Slot& slot) noexcept {
    if (taken_++ >= given) return false;
    if (!slot.is_element() && errors_left_-- == 0) has_missed_ = true;
    return true;
  }
  void end(std::uint64_t given) noexcept {
    has_ended_ = true;
    if (taken_ < given) has_missed_ = true;
  }
  bool has_ended() const noexcept { return is_running_ && has_ended_; }
  bool brings_more() const noexcept { return is_running_ && !has_ended_; }
  std::uint32_t runs() const noexcept { return runs_; }
  bool has_missed() const noexcept { return has_missed_; }
  // Whether another run of the same op, which runs it for the first time, gets the same.
  bool is_as_of_a_new_run() const noexcept { return runs_ <= 1; }

 private:
  std::uint32_t runs_ = 0;
  std::uint64_t taken_ = 0;        // since it began
  std::int64_t errors_left_ = 0;   // among what is left out
  std::int64_t errors_given_ = 0;  // in this pass, of the input or of what was remembered
  bool is_running_ = false;        // or has ended, and what it gave is still of use
  bool has_ended_ = false;
  std::atomic<bool> has_missed_{false};
};

inline Slot in_pass(Slot slot, const Stamp& pass) noexcept {
  slot.stamp.epoch = pass.epoch;
  slot.stamp.pass = pass.pass;
  slot.stamp.sequence = pass.sequence;
  return slot;
}

}  // namespace penstock::ops
