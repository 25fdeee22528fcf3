// What map, filter, flat_map and unbatch share: a user's function called once for each element.
#pragma once

#include <penstock/detail/functions.h>
#include <penstock/op.h>
#include <penstock/options.h>

#include <optional>

namespace penstock::ops {

class FunctionOp : public ElementwiseOp {
 public:
  // Error(invalid_argument) if parallelism is below 1, or not fixed to 1 for a function that is not
  // callable as const.
  FunctionOp(detail::FunctionRef function, Tunable parallelism, const MapOptions& options);

  Form form() const override { return blocks_.value_or(false) ? Form::blocks : Form::computes; }
  bool form_is_known() const override { return blocks_.has_value(); }
  Tunable parallelism() const override { return parallelism_; }
  Order order() const override { return order_; }
  std::optional<std::size_t> bytes_hint(const Element& input) const override;
  void run(std::span<Slot> slots, Context& context) const override {
    function_->run(slots, context);
  }

 private:
  detail::FunctionRef function_;
  Tunable parallelism_;
  Order order_;
  std::optional<bool> blocks_;
  BytesHint bytes_hint_;
};

}  // namespace penstock::ops
