#include "ops/ignore_errors.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {
namespace {

class State final : public StreamState {
 public:
  void element(Slot&& slot, Emitter& out) override { out.emit(std::move(slot.value), slot.stamp); }
  void error(Slot&& slot, Emitter& out) override { out.drop_error(std::move(slot)); }
};

}  // namespace

// As in tf.data the count is unknown even of an endless input: all of it may fail.
Flow IgnoreErrorsOp::flow(const Flow& input) const { return {.leading_dimension = input.leading_dimension}; }

std::unique_ptr<StreamState> IgnoreErrorsOp::open(std::uint64_t) const { return std::make_unique<State>(); }

OpRef ignore_errors() { return std::make_shared<IgnoreErrorsOp>(); }

}  // namespace penstock::ops
