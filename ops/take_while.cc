#include "ops/take_while.h"

#include <penstock/ops.h>

namespace penstock::ops {

OpRef take_while(detail::StepFactoryRef predicate) { return std::make_shared<TakeWhileOp>(std::move(predicate)); }

}  // namespace penstock::ops
