#include "lib/exec/seal.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lib/core/byte_count.h"

namespace penstock::exec {
namespace {

using Origin = std::function<std::string(std::int64_t)>;

void make_error(Slot& slot, const StagePlan& plan, std::int64_t ordinal, const Origin& origin) {
  ErrorPlace place;
  place.op = plan.op;
  place.position = plan.position;
  place.call_site = plan.call_site;
  place.ordinal = ordinal;
  place.source_ordinal = slot.stamp.ordinal;
  place.epoch = slot.stamp.epoch;
  place.origin = origin(slot.stamp.ordinal);
  slot.value = Element(std::make_exception_ptr(ElementError(std::move(place), slot.take<std::exception_ptr>())));
  slot.set_kind(Slot::Kind::error);
}

void charge(Slot& slot, Sealed& sum) {
  const std::int64_t bytes = byte_count(slot.value.bytes());
  slot.set_bytes(bytes);
  sum.bytes += bytes;
  ++sum.elements;
  sum.largest = std::max(sum.largest, bytes);
}

void spread(Slot& slot, Slots& out, Sealed& sum) {
  auto values = slot.take<std::vector<Element>>();
  std::int64_t all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.emplace_back(std::move(values[i]), slot.stamp.child(i));
    charge(out.back(), sum);
    all += out.back().bytes();
  }
  sum.largest = std::max(sum.largest, all);  // one call's need, which is what estimates are made of
}

// Something dropped or fanned out: the slots are laid out anew.
void rebuild(Slots& slots, Sealed& sum) {
  Slots out;
  out.reserve(slots.size());
  for (Slot& slot : slots) {
    if (slot.kind() == Slot::Kind::many) {
      spread(slot, out, sum);
    } else if (slot.kind() != Slot::Kind::dropped) {
      if (slot.is_element()) charge(slot, sum);
      out.push_back(std::move(slot));
    }
  }
  slots = std::move(out);
}

}  // namespace

Sealed seal(Group& group, const StagePlan& plan, const Body& body, const Origin& origin) {
  Slots& slots = group.slots;
  Sealed sum;
  bool in_place = true;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (slot.is_element()) continue;
    if (slot.kind() == Slot::Kind::failed) {
      make_error(slot, plan, body.failed_input(group, i), origin);
      slot.set_bytes(0);
      ++sum.errors;
    }
    in_place = in_place && (slot.kind() == Slot::Kind::error || slot.kind() == Slot::Kind::pass_end);
  }
  if (!in_place) {
    rebuild(slots, sum);
    return sum;
  }
  for (Slot& slot : slots) {
    if (slot.is_element()) charge(slot, sum);
  }
  return sum;
}

}  // namespace penstock::exec
