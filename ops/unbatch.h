// unbatch: the rows of each element as elements of their own. Documented at Dataset::unbatch; how a
// type is taken apart says ps::Unbatch (batch.h).
#pragma once

#include "lib/graph/traits.h"
#include "ops/function_op.h"

namespace penstock::ops {

class UnbatchOp final : public FunctionOp, public graph::TakesApart {
 public:
  explicit UnbatchOp(detail::FunctionRef function);
  std::string name() const override { return "unbatch"; }
  bool passes_memory_on() const override { return true; }
  Flow flow(const Flow& input) const override;
};

}  // namespace penstock::ops
