// What map, filter, flat_map and unbatch share: a user's function called once for each element.
#pragma once

#include <penstock/detail/functions.h>
#include <penstock/op.h>
#include <penstock/options.h>

#include <optional>
#include <string>

#include "lib/graph/traits.h"

namespace penstock::ops {

class FunctionOp : public ElementwiseOp, public graph::NamedByUser {
 public:
  // Error(invalid_argument) if parallelism is below 1, or for a function that is not callable as const not fixed
  // to 1, or if such a function cannot be copied; or for a name that cannot be printed in a line.
  FunctionOp(detail::FunctionRef function, const MapOptions& options);

  std::string parameters() const override;
  const std::string& label() const override { return label_; }
  Form form() const override { return blocks_.value_or(false) ? Form::blocks : Form::computes; }
  bool form_is_known() const override { return blocks_.has_value(); }
  Tunable parallelism() const override { return parallelism_; }
  Order order() const override { return order_; }
  std::optional<std::size_t> bytes_hint(const Element& input) const override;
  void run(std::span<Slot> slots, Context& context) const override { function_->run(slots, context); }
  std::size_t result_bytes() const override { return function_->result_bytes(); }
  bool has_state() const override { return !function_->callable_in_parallel(); }
  std::unique_ptr<ElementwiseState> open() const override;

 protected:
  const detail::Function& function() const noexcept { return *function_; }
  bool is_free_to_share_calls() const;  // graph::AnswersInPlace::may_share_calls()

 private:
  detail::FunctionRef function_;
  Tunable parallelism_;
  Order order_;
  std::optional<bool> blocks_;
  BytesHint bytes_hint_;
  std::string label_;
};

}  // namespace penstock::ops
