#include "lib/exec/inner.h"

#include <algorithm>
#include <iterator>

#include "lib/exec/inner_dataset.h"

namespace penstock::exec {

Inner::Inner(const Stamp& element, std::int64_t in_pass) : stamp(element), pass(in_pass) {}
Inner::~Inner() = default;

void Inner::add(Slots& slots) {
  for (const Slot& slot : slots) out_bytes += slot.bytes();
  if (has_slot()) {
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::exchange(left, 0)));
    std::ranges::move(slots, std::back_inserter(out));
  } else {
    left = 0;
    out.clear();
    std::swap(out, slots);
  }
  slots.clear();
}

}  // namespace penstock::exec
