// InnerDataset: a dataset that a function has made of an element while a run goes on, open to be read on the thread
// that asks. Its random numbers and orders hang on the element, its errors tell their place in it.
//
//   auto inner = InnerDataset::open(calls, std::move(slot), context, 1);
//   while (inner->pull(slots, 64, context)) {}
//
// Opening costs about a microsecond, and some hundred bytes for each op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

#include <penstock/graph.h>
#include <penstock/op.h>

#include "lib/exec/cursor.h"
#include "lib/exec/elementwise_passes.h"

namespace penstock::exec {

class InnerDataset {
 public:
  // Calls an op, which makes a NodeRef of the slot's element, and opens that. Throws what these throw. `depth`: how
  // many such datasets are around it, itself included.
  static std::unique_ptr<InnerDataset> open(ElementwisePasses& calls, Slot&& slot, Context& context, int depth);

  InnerDataset(graph::NodeRef node, const Stamp& element, std::uint64_t seed, int depth);

  // Appends its next elements and failures, at most `most`, and maybe none although there are more, with stamps of the
  // run around. False: it has no more. `context`: of the call that reads it.
  // `stop`: for sources that wait, where nobody wants more.
  bool pull(Slots& out, std::size_t most, Context& context, const std::stop_token& stop);
  std::int64_t held_bytes() const noexcept { return cursor_->held_bytes(); }  // by its ops
  // Whether it may have a source that waits for its next element (a reader), and not positions alone.
  bool may_wait() const noexcept { return may_wait_; }

 private:
  Stamp stamp_of(const Stamp& inside) const noexcept;

  const graph::NodeRef node_;
  const Stamp element_;  // that it was made of
  const std::uint64_t seed_;
  CursorSources sources_;
  std::unique_ptr<Cursor> cursor_;
  bool may_wait_ = false;
  bool has_begun_ = false;
};

}  // namespace penstock::exec
