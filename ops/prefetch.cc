#include "ops/prefetch.h"

#include <penstock/ops.h>

#include "lib/graph/arguments.h"

namespace penstock::ops {

PrefetchOp::PrefetchOp(Tunable buffer_size) : buffer_size_(buffer_size) {
  graph::check_tunable("buffer_size", buffer_size, 0);
}

OpRef prefetch(Tunable buffer_size) { return std::make_shared<PrefetchOp>(buffer_size); }

}  // namespace penstock::ops
