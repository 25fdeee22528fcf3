#include "lib/exec/outlet_room.h"

#include <algorithm>

namespace penstock::exec {

std::int64_t OutletRoom::capacity() const noexcept { return std::max(depth_, worth_waiting_); }

void OutletRoom::receive(std::int64_t count, std::int64_t worth_waiting) noexcept {
  worth_waiting_ = std::min(worth_waiting, widest_);
  held_ += count;
  account_full();
}

std::int64_t OutletRoom::take(std::int64_t count, bool is_empty) noexcept {
  held_ -= count;
  promised_ -= count;
  return promise(is_empty ? 1 : std::max<std::int64_t>(capacity() / 2, 1));
}

std::int64_t OutletRoom::promise(std::int64_t at_least) noexcept {
  const std::int64_t room = capacity() - promised_;
  const std::int64_t more = room < at_least ? 0 : room;
  promised_ += more;
  account_full();
  return more;
}

// After each change of what is promised or has come. The clock is looked at when it becomes full and when it no longer
// is.
void OutletRoom::account_full() noexcept {
  const bool full = held_ > 0 && held_ >= promised_;
  if (full == (full_since_ != 0)) return;
  const std::int64_t now = machine_.now();
  if (!full) full_ns_ += now - full_since_;
  full_since_ = full ? now : 0;
}

void OutletRoom::set_depth(std::int64_t depth) noexcept { depth_ = std::max<std::int64_t>(depth, 1); }

std::int64_t OutletRoom::full_ns() const noexcept {
  return full_ns_ + (full_since_ == 0 ? 0 : machine_.now() - full_since_);
}

}  // namespace penstock::exec
