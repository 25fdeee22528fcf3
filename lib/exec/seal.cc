#include "lib/exec/seal.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lib/core/byte_count.h"
#include "lib/exec/error_element.h"

namespace penstock::exec {
namespace {

constexpr auto kPlace = static_cast<std::int64_t>(sizeof(Slot));

// The bytes of a list, as far as the user's bytes_of tells them: where it throws, each element will say so itself.
// `hint`: of one that nobody can see into.
std::int64_t bytes_of_list(const detail::Results& results, std::int64_t hint) {
  try {
    const std::int64_t bytes = byte_count(results.bytes());
    return results.bytes_are_known() ? bytes : std::max(bytes, hint);
  } catch (...) {
    return 0;
  }
}

// What results become, one after the other: those that have failed get their place.
class Seal {
 public:
  Seal(Group& group, const StagePlan& plan, const Body& body, std::size_t most, const ItemOf& item_of)
      : group_(group), plan_(plan), body_(body), most_(most), item_of_(item_of) {
    sum_.errors = std::exchange(group.errors_inside, 0);
  }

  // A result of the group's slot `i`, or one of `several` that were made of it.
  void finish(Slot& slot, std::size_t i, std::size_t several = 1) {
    if (slot.is_element() && same_bytes_ != nullptr && slot.value.same_bytes() == same_bytes_) {
      slot.set_bytes(bytes_of_same_);
      ++sum_.elements;
      sum_.bytes += bytes_of_same_;
      return;
    }
    finish_by_itself(slot, i, several);
  }

  // Adds what slot `i` has become. False: there is more of it than may be, and the rest stays in it.
  bool place(Slot& slot, std::size_t i, Slots& out) {
    if (slot.kind() == Slot::Kind::dropped) return true;
    if (slot.kind() == Slot::Kind::many) return spread(slot, i, out);
    add(slot, i);
    out.push_back(std::move(slot));
    return true;
  }

  // If there is no memory for a new list: slot `i` stays where it is, or fails with `no_memory` if it has become many.
  void place_here(Slot& slot, std::size_t i, const std::exception_ptr& no_memory) {
    if (slot.kind() == Slot::Kind::dropped) return;
    if (slot.kind() != Slot::Kind::many) return add(slot, i);
    group_.folded.unfolded = 0;
    slot.fail(no_memory);
    finish(slot, i);
  }

  // Slot `i` gets its place later, behind a list with more results than may be. `is_measured`: its bytes are set.
  void fold(Slot& slot, std::size_t i, bool is_measured) {
    if (slot.kind() == Slot::Kind::dropped) return slot.set_bytes(0);
    if (slot.kind() == Slot::Kind::many) {
      if (!is_measured) slot.set_bytes(bytes_of_list(slot.results(), hint_each()));
    } else {
      add(slot, i);
      sum_.bytes -= slot.bytes();
    }
    sum_.folded += slot.bytes();
  }

  const Sealed& sum() const noexcept { return sum_; }

 private:
  void finish_by_itself(Slot& slot, std::size_t i, std::size_t several) {
    if (slot.is_element() && measure(slot, several)) {
      ++sum_.elements;
      sum_.largest = std::max(sum_.largest, slot.bytes());
    } else if (slot.kind() == Slot::Kind::failed) {
      make_error(slot, plan_.label, body_.failed_input(group_, i), item_of_);
      slot.set_bytes(kPlace);
      ++sum_.errors;
    }
    sum_.bytes += slot.bytes();
  }

  // Answers that unfold have been finished before.
  void add(Slot& slot, std::size_t i) {
    if (!group_.folded.is_unfolding) return finish(slot, i);
    sum_.bytes += slot.bytes();
  }

  // Gives slots to the next results of a list. True: all have one now. Without memory for them the list is one failure.
  bool spread(Slot& slot, std::size_t i, Slots& out) {
    detail::Results& results = slot.results();
    const std::size_t size = results.size(), told = std::exchange(group_.folded.unfolded, 0);
    const std::size_t end = std::min(size, told + most_ - std::min(most_, out.size()));
    try {
      make_room(out, end - told + group_.slots.size() - i);
    } catch (...) {
      slot.fail(detail::current_failure());
      finish(slot, i);
      out.push_back(std::move(slot));
      return true;
    }
    if (told == 0 && end < size) slot.set_bytes(bytes_of_list(results, hint_each()));
    const std::int64_t before = sum_.bytes;
    for (std::size_t child = told; child < end; ++child) {
      out.emplace_back(Element(), slot.stamp.child(child));
      take(results, child, out.back());
      finish(out.back(), i, size);
    }
    sum_.largest = std::max(
        sum_.largest,
        sum_.bytes - before + (end < size ? slot.bytes() : 0));  // one call's need, which is what estimates are made of
    if (end == size) return true;
    const std::int64_t list = std::min(byte_count(results.bytes_of_list()), slot.bytes());
    shrink(slot, list, size - told, size - end);
    sum_.hollow = share(list, end, size);
    group_.folded.unfolded = end;
    return false;
  }

  static void take(detail::Results& results, std::size_t child, Slot& slot) {
    try {
      slot.value = results.take(child);
    } catch (...) {
      slot.fail(detail::current_failure());
    }
  }

  // Of the list's `before` results `after` are left, and each is taken to hold the same. The list itself, `list` bytes,
  // stays as long as any result does.
  static void shrink(Slot& slot, std::int64_t list, std::size_t before, std::size_t after) {
    slot.set_bytes(list + share(slot.bytes() - list, after, before));
  }
  static std::int64_t share(std::int64_t bytes, std::size_t part, std::size_t whole) {
    return static_cast<std::int64_t>(static_cast<double>(bytes) * static_cast<double>(part) /
                                     static_cast<double>(whole));
  }

  // False: the result fails, since it is of another type, or the user's bytes_of throws.
  bool measure(Slot& slot, std::size_t several) {
    try {
      if (plan_.gives.must_be != nullptr) check_type(slot, *plan_.gives.must_be);
      const std::int64_t bytes = byte_count(slot.value.bytes()) + kPlace;
      slot.set_bytes(slot.value.bytes_are_known() ? bytes : believed(slot, bytes, several));
      same_bytes_ = slot.value.same_bytes();
      bytes_of_same_ = bytes;
      return true;
    } catch (...) {
      slot.fail(detail::current_failure());
      return false;
    }
  }
  // Bytes of a result whose memory nobody can tell: those of the input, if the op passes it on; else the hint tells.
  std::int64_t believed(const Slot& slot, std::int64_t bytes, std::size_t several) {
    if (plan_.passes_memory_on) return std::max(bytes, slot.bytes());
    if (!group_.memory.has_hint()) {
      sum_.unseen = slot.value.type();
      sum_.unseen_part = slot.value.unseen_type();
      return bytes;
    }
    return std::max(bytes, hint_each() / static_cast<std::int64_t>(several) + kPlace);
  }
  // Bytes that one input becomes, by the hint; negative: there is no hint.
  std::int64_t hint_each() const { return group_.memory.hint_each(group_.inputs.elements); }

  static void make_room(Slots& out, std::size_t more) {
    const std::size_t needed = out.size() + more;
    if (needed > out.capacity()) out.reserve(std::max(needed, 2 * out.capacity()));
  }

  Group& group_;
  const StagePlan& plan_;
  const Body& body_;
  const std::size_t most_;
  const ItemOf& item_of_;
  Sealed sum_;
  // of the last result that was measured: what has been found of it holds for all that are like it
  const void* same_bytes_ = nullptr;
  std::int64_t bytes_of_same_ = 0;
};

bool was_dropped(const Slot& slot) { return slot.kind() == Slot::Kind::dropped; }
bool became_many(const Slot& slot) { return slot.kind() == Slot::Kind::many; }

// No list is made anew: `no_memory` is why, where some have become many.
void lay_out_here(Group& group, Seal& seal, const std::exception_ptr& no_memory = nullptr) {
  for (std::size_t i = 0; i < group.slots.size(); ++i) seal.place_here(group.slots[i], i, no_memory);
  std::erase_if(group.slots, was_dropped);
}

// Some have become many: the slots are laid out anew, up to the first list that has more results than may be.
void lay_out(Group& group, Seal& seal) {
  Slots& slots = group.slots;
  Slots out;
  try {
    out.reserve(slots.size());
  } catch (...) {
    return lay_out_here(group, seal, detail::current_failure());
  }
  std::size_t placed = 0;
  while (placed < slots.size() && seal.place(slots[placed], placed, out)) ++placed;
  for (std::size_t i = placed; i < slots.size(); ++i) seal.fold(slots[i], i, i == placed || group.folded.is_unfolding);
  slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(placed));
  group.folded.fold(slots, placed);
  std::swap(slots, out);
}

}  // namespace

Sealed seal(Group& group, const StagePlan& plan, const Body& body, std::size_t most, const ItemOf& item_of) {
  Seal seal(group, plan, body, most, item_of);
  if (!group.folded.is_unfolding && std::ranges::none_of(group.slots, became_many)) {
    lay_out_here(group, seal);
  } else {
    lay_out(group, seal);
  }
  return seal.sum();
}

}  // namespace penstock::exec
