// OutletRoom: how many slots may be on their way to the consumer or wait for it: the credits of the last edge.
//
// Whenever the outlet's lock is free: promised_ = credits given and not used + slots that have come and have not been
// reported as taken; held_ is the number of these slots.
//
// Thread safety: with the outlet's lock held.
#pragma once

#include <cstdint>

#include "lib/core/machine.h"

namespace penstock::exec {

class OutletRoom {
 public:
  // Cheap and small slots may wait in greater number than `depth`, up to `widest`.
  OutletRoom(std::int64_t depth, std::int64_t widest, const Machine& machine)
      : machine_(machine), widest_(widest), depth_(depth) {}

  std::int64_t capacity() const noexcept;

  // `count` slots have come. `worth_waiting`: how many of their kind are worth keeping ready (Packet).
  void receive(std::int64_t count, std::int64_t worth_waiting) noexcept;
  // The consumer has taken `count` slots, which makes room for as many. Returns the credits for the last stage: none
  // until they are half the capacity, for each time a worker may have to be woken; if `is_empty`, all at once.
  std::int64_t take(std::int64_t count, bool is_empty) noexcept;
  // All credits that there is room for.
  std::int64_t top_up() noexcept { return promise(1); }

  void set_depth(std::int64_t depth) noexcept;
  std::int64_t depth() const noexcept { return depth_; }
  // How long nothing more could come because of the consumer.
  std::int64_t full_ns() const noexcept;

 private:
  std::int64_t promise(std::int64_t at_least) noexcept;
  void account_full() noexcept;

  const Machine& machine_;
  const std::int64_t widest_;
  std::int64_t depth_;
  std::int64_t worth_waiting_ = 0;
  std::int64_t promised_ = 0;
  std::int64_t held_ = 0;
  std::int64_t full_since_ = 0;  // 0: more may come
  std::int64_t full_ns_ = 0;
};

}  // namespace penstock::exec
