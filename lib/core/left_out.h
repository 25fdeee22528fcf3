// LeftOut: what had been used up of a stream where a run goes on. It comes again, and is left out by its number.
//
//   LeftOut again({.slots = 12, .errors = 1}, false);
//   while (again.goes_on())
//     if (!again.take(next_slot())) host.give_up(fails_this_time(...));
//
// Numbers tell what comes again only as long as what fails is the same: an element that fails may be one of a batch, or
// the beginning of a dataset, and then other slots come, or fewer. So where there are more errors than there were, the
// run ends with one rather than that an element comes twice or not at all. Fewer of them may be had by nobody who
// resumes: that is told on stderr. Which of them failed is not known: as many others are not told from them.
// Where each slot is one of a list of positions (Plan::keeps_numbers) it does not matter what fails.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <exception>

#include <penstock/slot.h>

namespace penstock {

// Of a stream.
struct SlotCount {
  std::int64_t slots = 0, errors = 0;

  void add(const Slot& slot) noexcept {
    const bool is_error = !slot.is_element() && slot.is_item();  // seldom
    slots += is_error || slot.is_element();
    if (is_error) ++errors;
  }
  SlotCount operator+(const SlotCount& more) const noexcept { return {slots + more.slots, errors + more.errors}; }
  SlotCount operator-(const SlotCount& before) const noexcept { return {slots - before.slots, errors - before.errors}; }
};

class LeftOut {
 public:
  LeftOut() = default;
  LeftOut(const SlotCount& count, bool keeps_numbers) noexcept : left_(count), keeps_numbers_(keeps_numbers) {}

  bool goes_on() const noexcept { return left_.slots > 0; }
  const SlotCount& count() const noexcept { return left_; }  // what is still to come
  // While it goes on: an element or an error comes again. False: it is an error that was none.
  [[nodiscard]] bool take(const Slot& slot) noexcept {
    --left_.slots;
    const bool is_new = !slot.is_element() && left_.errors == 0;
    if (!slot.is_element() && !is_new) --left_.errors;
    if (left_.slots == 0 && left_.errors > 0) end_with(left_.errors);
    return !is_new || keeps_numbers_;
  }

 private:
  void end_with(std::int64_t errors) noexcept;

  SlotCount left_;
  bool keeps_numbers_ = false;
};

// What a run ends with where take() is false. Calls what(), which is users' code.
std::exception_ptr fails_this_time(const std::exception_ptr& cause) noexcept;
inline std::exception_ptr fails_this_time(const Slot& failed) noexcept {
  return fails_this_time(failed.value.get<std::exception_ptr>());
}

// Thrown in place of that where a lock is held.
struct FailsThisTime {
  std::exception_ptr cause;
};
std::exception_ptr as_told(const std::exception_ptr& thrown) noexcept;  // without a lock, then

}  // namespace penstock
