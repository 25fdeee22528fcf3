#include "lib/core/element_store.h"

#include <utility>

namespace penstock {
namespace {
constexpr auto kSlot = static_cast<std::int64_t>(sizeof(Slot));
}

// What the slot's own place took is not kept.
void ElementStore::push_back(Numbered&& numbered) {
  Slot& slot = numbered.slot;
  const Stamp& stamp = slot.stamp;
  const Kind kind{stamp.sequence, stamp.epoch, stamp.pass, slot.value_bytes()};
  kinds_.push_back(kind, size());
  try {
    sources_.push_back(stamp.source, size());
    held_.push_back({std::move(slot.value), stamp.ordinal, stamp.sub, numbered.input});
  } catch (...) {
    kinds_.shorten(size());
    sources_.shorten(size());
    throw;
  }
  value_bytes_ += kind.bytes;
}

void ElementStore::swap_with_last(std::size_t i) noexcept {
  std::swap(held_[i], held_.back());
  kinds_.swap(i, size() - 1);
  sources_.swap(i, size() - 1);
}

ElementStore::Numbered ElementStore::take_last() noexcept {
  Held& last = held_.back();
  const Kind kind = kinds_.back();
  Slot slot(std::move(last.value), {.epoch = kind.epoch,
                                    .pass = kind.pass,
                                    .sequence = kind.sequence,
                                    .source = sources_.back(),
                                    .ordinal = last.ordinal,
                                    .sub = last.sub});
  slot.set_bytes(kind.bytes + kSlot);
  const std::int64_t input = last.input;
  held_.pop_back();
  kinds_.shorten(size());
  sources_.shorten(size());
  value_bytes_ -= kind.bytes;
  return {std::move(slot), input};
}

void ElementStore::clear() noexcept {
  held_.clear();
  kinds_.clear();
  sources_.clear();
  value_bytes_ = 0;
}

std::int64_t ElementStore::bytes() const noexcept {
  return value_bytes_ + static_cast<std::int64_t>(size() * sizeof(Held) + kinds_.bytes() + sources_.bytes());
}

}  // namespace penstock
