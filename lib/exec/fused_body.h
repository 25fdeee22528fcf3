// FusedBody: several element-wise ops in one call, a few elements at a time through all of them. What leaves an op in
// between is looked at as if it left a stage: errors are of the op that failed, and random numbers each op's own.
//
// Each op gives at most one result in the place of its input, and all but the last one give one or fail. Failures have
// their place when the call returns: seal() finds none.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lib/exec/body.h"
#include "lib/exec/stage_plan.h"

namespace penstock::exec {

struct FusedOp {
  std::shared_ptr<const ElementwiseOp> op;
  StageLabel label;
  std::uint64_t random_key = 0;
};

class FusedBody final : public Body {
 public:
  FusedBody(std::vector<FusedOp> ops, const BodyHost& host) : ops_(std::move(ops)), host_(host) {}
  void run(Group& group, Context& context) override;

 private:
  const std::vector<FusedOp> ops_;
  const BodyHost& host_;
};

}  // namespace penstock::exec
