#include "ops/group_by_window.h"

#include <penstock/ops.h>

#include <utility>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

class State final : public StreamState {
 public:
  explicit State(detail::GroupingFactoryRef factory) : factory_(std::move(factory)) {}

  void begin_pass(Emitter&) override { groups_.reset(); }
  void element(Slot&& slot, Emitter& out) override {
    if (!groups_) groups_ = factory_->open();
    give(groups_->add(std::move(slot), out.input_number()), out);
  }
  bool flush(Emitter& out) override { return groups_ && give(groups_->take_rest(), out); }
  void pass_end(Emitter&) override { groups_.reset(); }
  std::int64_t held_bytes() const override { return groups_ ? groups_->held_bytes() : 0; }
  bool save(StateWriter& out) const override { return !groups_ || groups_->save(out); }
  void restore(StateReader& in) override {
    while (in.has_held()) {
      if (!groups_) groups_ = factory_->open();
      auto [slot, input] = in.take_held();
      if (groups_->add(std::move(slot), input)) StateReader::refuse();
    }
  }

 private:
  static bool give(std::optional<Slot> group, Emitter& out) {
    if (group) out.emit(std::move(group->value), group->stamp);
    return group.has_value();
  }

  const detail::GroupingFactoryRef factory_;
  std::unique_ptr<detail::Grouping> groups_;  // of this pass; none before its first element
};

}  // namespace

GroupByWindowOp::GroupByWindowOp(std::int64_t size, detail::GroupingFactoryRef factory)
    : size_(size), factory_(std::move(factory)) {
  if (size < 1) graph::reject("size", "at least 1", size);
}

std::string GroupByWindowOp::parameters() const { return "size=" + std::to_string(size_); }

Flow GroupByWindowOp::flow(const Flow& input) const {
  return {.cardinality = input.cardinality == INFINITE_CARDINALITY ? INFINITE_CARDINALITY : UNKNOWN_CARDINALITY};
}

std::unique_ptr<StreamState> GroupByWindowOp::open(std::uint64_t) const { return std::make_unique<State>(factory_); }

OpRef group_by_window(std::int64_t size, detail::GroupingFactoryRef factory) {
  return std::make_shared<GroupByWindowOp>(size, std::move(factory));
}

}  // namespace penstock::ops
