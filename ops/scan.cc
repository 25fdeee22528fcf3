#include "ops/scan.h"

#include <penstock/ops.h>

namespace penstock::ops {

OpRef scan(detail::StepFactoryRef step) { return std::make_shared<ScanOp>(std::move(step)); }

}  // namespace penstock::ops
