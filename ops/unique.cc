#include "ops/unique.h"

#include <penstock/ops.h>

namespace penstock::ops {

OpRef unique(detail::StepFactoryRef step) { return std::make_shared<UniqueOp>(std::move(step)); }

}  // namespace penstock::ops
