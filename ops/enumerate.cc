#include "ops/enumerate.h"

#include <penstock/ops.h>

namespace penstock::ops {

OpRef enumerate(std::int64_t start, detail::StepFactoryRef step) {
  return std::make_shared<EnumerateOp>(start, std::move(step));
}

}  // namespace penstock::ops
