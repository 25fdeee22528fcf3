#include "lib/exec/nest_body.h"

#include <algorithm>
#include <utility>

#include "lib/exec/inner.h"
#include "lib/exec/inner_dataset.h"

namespace penstock::exec {
namespace {

// Slots that are pulled together: that costs some 50 ns, and nothing of it leaves before all are there.
constexpr std::size_t kMostAtOnce = 16;
constexpr std::int64_t kPatience = 100;  // grains, for a first slot

}  // namespace

void NestBody::run(Group& group, Context& context) {
  Inner& inner = *group.inner;
  context.enter(Slot(Element(), inner.stamp));  // runs that functions inside begin are part of the element's pass
  try {
    if (!context.is_unwanted() && !inner.was_opened) open(group, context);
    if (!context.is_unwanted() && inner.dataset != nullptr) read(group, context);
  } catch (...) {
    append_failure(group.slots, inner.stamp);
    inner.has_ended = true;
  }
  if (context.is_unwanted()) {
    inner.has_ended = true;
    group.slots.clear();
  }
  if (inner.has_ended) inner.dataset.reset();
  inner.held_bytes = inner.dataset ? inner.dataset->held_bytes() : 0;
}

void NestBody::open(Group& group, Context& context) const {
  group.inner->was_opened = true;
  Slot element = std::move(group.slots.front());
  group.slots.clear();
  group.inner->dataset = InnerDataset::open(*op_, std::move(element), context, 1);
}

void NestBody::read(Group& group, Context& context) const {
  Inner& inner = *group.inner;
  const auto wanted = static_cast<std::size_t>(inner.wanted);
  const std::int64_t begin = host_.now();
  std::size_t at_once = 1;
  for (bool is_in_time = true; is_in_time && !inner.has_ended && group.slots.size() < wanted;) {
    const std::size_t most = std::min(at_once, wanted - group.slots.size());
    inner.has_ended = !inner.dataset->pull(group.slots, most, context);
    at_once = std::min(2 * at_once, kMostAtOnce);
    const std::int64_t patience = group.slots.empty() ? kPatience : 1;
    is_in_time = !context.is_unwanted() && host_.now() - begin < patience * inner.grain_ns;
  }
}

}  // namespace penstock::exec
