#include "lib/core/element_store.h"

#include <algorithm>

namespace penstock {
namespace {
constexpr auto kSlot = static_cast<std::int64_t>(sizeof(Slot));
}

// What the slot's own place took is not kept.
void ElementStore::push_back(Slot&& slot) {
  const Stamp& stamp = slot.stamp;
  const Kind kind{stamp.sequence, stamp.epoch, stamp.pass, std::max<std::int64_t>(slot.bytes() - kSlot, 0)};
  note(kind);
  try {
    held_.push_back({std::move(slot.value), stamp.ordinal, stamp.sub});
  } catch (...) {
    if (!kinds_.empty()) kinds_.pop_back();
    throw;
  }
  value_bytes_ += kind.bytes;
}

// From the first one on that differs from those before, each has its own.
void ElementStore::note(const Kind& kind) {
  if (empty()) common_ = kind;
  if (kinds_.empty() && kind == common_) return;
  while (kinds_.size() < held_.size()) kinds_.push_back(common_);
  kinds_.push_back(kind);
}

void ElementStore::swap_with_last(std::size_t i) noexcept {
  std::swap(held_[i], held_.back());
  if (!kinds_.empty()) std::swap(kinds_[i], kinds_.back());
}

Slot ElementStore::take_last() noexcept {
  Held& last = held_.back();
  const Kind kind = kinds_.empty() ? common_ : kinds_.back();
  Slot slot(
      std::move(last.value),
      {.epoch = kind.epoch, .pass = kind.pass, .sequence = kind.sequence, .ordinal = last.ordinal, .sub = last.sub});
  slot.set_bytes(kind.bytes + kSlot);
  held_.pop_back();
  if (!kinds_.empty()) kinds_.pop_back();
  value_bytes_ -= kind.bytes;
  return slot;
}

void ElementStore::clear() noexcept {
  held_.clear();
  kinds_.clear();
  value_bytes_ = 0;
}

std::int64_t ElementStore::bytes() const noexcept {
  return value_bytes_ + static_cast<std::int64_t>(held_.size() * sizeof(Held) + kinds_.size() * sizeof(Kind));
}

}  // namespace penstock
