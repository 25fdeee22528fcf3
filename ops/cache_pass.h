// What both caches share: the books of their input, and the places of elements, which are given in other passes.
#pragma once

#include <penstock/error.h>
#include <penstock/op.h>
#include <penstock/random.h>

#include <cstdint>
#include <string>
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
  // It is wanted. True: it begins.
  bool want() noexcept {
    if (std::exchange(is_running_, true)) return false;
    ++runs_;
    has_ended_ = false;
    return true;
  }
  void end() noexcept { has_ended_ = true; }
  bool has_ended() const noexcept { return is_running_ && has_ended_; }
  bool brings_more() const noexcept { return is_running_ && !has_ended_; }
  std::uint32_t runs() const noexcept { return runs_; }
  // Whether another run of the same op, which runs it for the first time, gets the same.
  bool is_as_of_a_new_run() const noexcept { return runs_ <= 1; }

 private:
  std::uint32_t runs_ = 0;
  bool is_running_ = false;  // or has ended, and what it gave is still of use
  bool has_ended_ = false;
};

// At the end of the input. Error(data_loss) where a resumed run has found less of it than was given before.
inline void check_came_to(std::uint64_t given, std::uint64_t taken) {
  if (taken >= given) return;
  throw Error(ErrorCode::data_loss, "what is before the cache has only " + std::to_string(taken) +
                                        " elements this time, but " + std::to_string(given) +
                                        " had come when the checkpoint was taken. Resume with the input that it was "
                                        "taken of, or start the epoch anew");
}

inline Slot in_pass(Slot slot, const Stamp& pass) noexcept {
  slot.stamp.epoch = pass.epoch;
  slot.stamp.pass = pass.pass;
  slot.stamp.sequence = pass.sequence;
  return slot;
}

}  // namespace penstock::ops
