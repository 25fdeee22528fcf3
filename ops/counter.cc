#include "ops/counter.h"

#include <penstock/ops.h>
#include <penstock/sources.h>

namespace penstock {

OpRef ops::counter(std::int64_t start, std::int64_t step) {
  return indexed_source("counter", "start=" + std::to_string(start) + ", step=" + std::to_string(step),
                        std::make_shared<CounterSource>(start, step));
}

Dataset<std::int64_t> counter(std::int64_t start, std::int64_t step, CallSite site) {
  return Dataset<std::int64_t>(graph::build(nullptr, "counter", site, [&] { return ops::counter(start, step); }));
}

}  // namespace penstock
