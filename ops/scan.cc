#include "ops/scan.h"

#include <penstock/ops.h>

namespace penstock::ops {

OpRef scan(detail::StepFactoryRef step, std::string initial) {
  return std::make_shared<ScanOp>(std::move(step), std::move(initial));
}

}  // namespace penstock::ops
