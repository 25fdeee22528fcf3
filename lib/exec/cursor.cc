#include "lib/exec/cursor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/core/byte_count.h"
#include "lib/exec/error_element.h"

namespace penstock::exec {
namespace {

constexpr auto kPlace = static_cast<std::int64_t>(sizeof(Slot));

// An element for which `call` throws fails.
template <class Call> void guarded(Slot& slot, Call&& call) noexcept {
  try {
    call();
  } catch (...) {
    slot.fail(detail::current_failure());
  }
}

}  // namespace

SourceItem CursorSources::item(const Stamp& stamp) const {
  return item_of(plans, stamp.source, stamp.ordinal,
                 [&](std::size_t reader) { return cursors[reader]->origin(stamp); });
}

void CursorCall::finish(Slot& slot, const CursorOp& op, std::int64_t ordinal) noexcept {
  if (op.gives != nullptr && slot.is_element()) guarded(slot, [&] { check_type(slot, *op.gives); });
  place_failure(slot, op, ordinal);
}

void CursorCall::measure(Slot& slot, const CursorOp& op, std::int64_t ordinal) noexcept {
  if (!slot.is_element()) return;
  guarded(slot, [&] { slot.set_bytes(byte_count(slot.value.bytes()) + kPlace); });
  place_failure(slot, op, ordinal);
}

void CursorCall::place_failure(Slot& slot, const CursorOp& op, std::int64_t ordinal) noexcept {
  if (slot.kind() != Slot::Kind::failed) return;
  slot.set_bytes(kPlace);
  try {
    make_error(slot, label_of(*op.node, op.number), ordinal,
               [this](const Stamp& stamp) { return sources_.item(stamp); });
  } catch (...) {
    slot.set_kind(Slot::Kind::error);
  }
}

// The cursors have moved: the call cannot be broken off.
bool CursorCall::try_reserve(std::int64_t bytes, bool) {
  call_.reserve(static_cast<std::size_t>(bytes));
  return true;
}

void Pulled::give(Slots& out, std::size_t most) {
  const std::size_t count = std::min(most, slots_.size() - given_);
  const auto first = slots_.begin() + static_cast<std::ptrdiff_t>(given_);
  for (std::size_t i = 0; i < count; ++i) bytes_ -= slots_[given_ + i].bytes();
  std::move(first, first + static_cast<std::ptrdiff_t>(count), std::back_inserter(out));
  given_ += count;
  if (empty()) clear();
}

void Pulled::clear() noexcept {
  slots_.clear();
  given_ = 0;
  bytes_ = 0;
}

}  // namespace penstock::exec
