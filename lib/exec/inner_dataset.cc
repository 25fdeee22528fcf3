#include "lib/exec/inner_dataset.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/cursors.h"
#include "lib/exec/opened.h"
#include "lib/graph/control_ops.h"
#include "lib/graph/positions.h"
#include "lib/graph/traits.h"

namespace penstock::exec {
namespace {

constexpr int kDeepest = 64;  // as runs inside runs

// Makes the cursors of a graph, in post-order.
class Opener {
 public:
  Opener(const graph::NodeRef& owner, int depth, CursorSources& sources)
      : owner_(owner), depth_(depth), sources_(sources) {}

  std::unique_ptr<Cursor> open() { return cursor_of(made(*owner_)); }
  bool may_wait() const noexcept { return may_wait_; }

 private:
  // Positions, as long as that is all that there is, or a cursor.
  struct Made {
    CursorOp first;  // of the ops that work on positions
    std::optional<graph::Positions> positions = std::nullopt;
    std::unique_ptr<Cursor> cursor = nullptr;
  };

  Made made(const graph::Node& node) {
    std::vector<Made> inputs;
    for (const graph::NodeRef& input : node.inputs()) inputs.push_back(made(*input));
    const CursorOp op{&node, number_++, node.gives()};
    if (node.kind() == graph::Kind::source) return source(op);
    if (node.kind() == graph::Kind::merge) return merge(op, std::move(inputs));
    return behind(op, std::move(inputs.front()));
  }
  Made source(const CursorOp& op) {
    const auto* source = op.node->as<SourceOp>();
    if (const IndexedSource* items = source->indexed())
      return {op, graph::positions_of({owner_, items}, op.node->gives() == nullptr)};
    const auto read = [&](std::uint16_t number) { return reader_cursor(op, number); };
    return {op, std::nullopt, with_place(op, [&] { return begin(op, nullptr, read); })};
  }
  Made merge(const CursorOp& op, std::vector<Made> inputs) {
    std::vector<graph::Positions> positions;
    for (const Made& input : inputs) {
      if (input.positions) positions.push_back(*input.positions);
    }
    if (positions.size() == inputs.size()) {
      if (auto merged = graph::merged_positions(*op.node, std::move(positions))) return {op, std::move(*merged)};
    }
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (Made& input : inputs) cursors.push_back(cursor_of(std::move(input)));
    return {op, std::nullopt, with_place(op, [&] { return merge_cursor(op, std::move(cursors)); })};
  }
  Made behind(const CursorOp& op, Made input) {
    if (input.positions) {
      if (auto positions = graph::positions_behind(owner_, *op.node, *input.positions)) {
        if (op.gives != nullptr) input.first.gives = op.gives;
        return {input.first, std::move(*positions)};
      }
    }
    auto cursor = cursor_of(std::move(input));
    return {op, std::nullopt, with_place(op, [&] { return around(op, std::move(cursor)); })};
  }
  std::unique_ptr<Cursor> around(const CursorOp& op, std::unique_ptr<Cursor> input) {
    switch (op.node->kind()) {
      case graph::Kind::source:
      case graph::Kind::merge:
      case graph::Kind::buffer: break;
      case graph::Kind::stream: return stream_cursor(op, std::move(input));
      case graph::Kind::elementwise:
        return op.node->as<graph::OpensDatasets>() != nullptr ? nest(op, std::move(input))
                                                              : elementwise_cursor(op, std::move(input));
      case graph::Kind::repeat: return repeat_cursor(op.node->as<graph::RestartOp>()->count(), std::move(input));
    }
    return input;
  }

  // What it opens is not known yet.
  std::unique_ptr<Cursor> nest(const CursorOp& op, std::unique_ptr<Cursor> input) {
    may_wait_ = true;
    return nest_cursor(op, std::move(input), depth_);
  }

  std::unique_ptr<Cursor> cursor_of(Made made) {
    if (!made.positions) return std::move(made.cursor);
    return begin(made.first, made.positions->source.get(),
                 [&](std::uint16_t number) { return positions_cursor(made.first, *made.positions, number); });
  }
  // With the cursor that `make` gives for its number.
  template <class Make> std::unique_ptr<Cursor> begin(const CursorOp& op, const IndexedSource* items, Make&& make) {
    may_wait_ = may_wait_ || items == nullptr;
    const std::size_t number = sources_.plans.size();
    sources_.plans.push_back({items, op.number, number});
    auto cursor = make(static_cast<std::uint16_t>(std::min<std::size_t>(number, 0xFFFF)));
    sources_.cursors.push_back(cursor.get());
    return cursor;
  }
  template <class Open> static std::unique_ptr<Cursor> with_place(const CursorOp& op, Open&& open) {
    try {
      return open();
    } catch (...) {
      fail_to_open(place_of(label_of(*op.node, op.number)));
    }
  }

  const graph::NodeRef& owner_;
  const int depth_;
  CursorSources& sources_;
  int number_ = 0;
  bool may_wait_ = false;
};

std::uint64_t seed_of(const Context& context) {
  auto rng = context.rng();
  const std::uint64_t high = rng();
  return high << 32 | rng();
}

}  // namespace

std::unique_ptr<InnerDataset> InnerDataset::open(ElementwisePasses& calls, Slot&& slot, Context& context, int depth) {
  const Stamp stamp = slot.stamp;
  context.enter(slot);
  const std::uint64_t seed = seed_of(context);
  calls.run(std::span(&slot, 1), context);
  if (slot.kind() == Slot::Kind::failed) std::rethrow_exception(slot.value.get<std::exception_ptr>());
  return std::make_unique<InnerDataset>(slot.take<graph::NodeRef>(), stamp, seed, depth);
}

InnerDataset::InnerDataset(graph::NodeRef node, const Stamp& element, std::uint64_t seed, int depth)
    : node_(std::move(node)), element_(element), seed_(seed) {
  graph::cardinality(node_);  // throws if there is no node
  if (depth > kDeepest)
    throw Error(ErrorCode::resource_exhausted, "more than " + std::to_string(kDeepest) +
                                                   " datasets are open one inside the other: the function of an "
                                                   "interleave may give what interleaves again without an end");
  Opener opener(node_, depth, sources_);
  cursor_ = opener.open();
  may_wait_ = opener.may_wait();
}

bool InnerDataset::pull(Slots& out, std::size_t most, Context& context, const std::stop_token& stop) {
  CursorCall call(context, stop, seed_, sources_);
  if (!std::exchange(has_begun_, true)) {
    // An order that counts how often it was opened does so from the beginning of each dataset.
    const std::uint32_t base = node_->counts_openings() ? 0 : element_.pass;
    cursor_->begin_pass({.epoch = element_.epoch, .base = base}, call);
  }
  const std::size_t first = out.size();
  const bool has_more = cursor_->pull(out, most, call);
  for (Slot& slot : std::span(out).subspan(first)) {
    slot.stamp = stamp_of(slot.stamp);
    if (slot.kind() == Slot::Kind::error) slot.set_kind(Slot::Kind::failed);  // the op around it adds its own place
  }
  return has_more;
}

// By what the stamp inside says, so that numbers drawn behind do not hang on what a filter has dropped. Not by the
// source: merges tell their inputs apart by Stamp::sub, and a cache keeps the source of whoever has filled it.
Stamp InnerDataset::stamp_of(const Stamp& inside) const noexcept {
  const std::uint64_t place = mix64(static_cast<std::uint64_t>(inside.ordinal) ^ mix64(inside.pass)) + inside.sub;
  Stamp stamp = element_;
  stamp.sub = mix64(element_.sub + mix64(place)) | 1;  // not 0, which means the element itself
  return stamp;
}

}  // namespace penstock::exec
