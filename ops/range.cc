#include "ops/range.h"

#include <penstock/ops.h>
#include <penstock/sources.h>

#include <limits>

#include "lib/graph/arguments.h"

namespace penstock {
namespace ops {
namespace {

// Differences of two std::int64_t need 64 bits without a sign; unsigned arithmetic wraps, signed
// must not.
std::uint64_t unsigned_of(std::int64_t x) { return static_cast<std::uint64_t>(x); }

std::int64_t count(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) graph::reject("step", "anything but 0", step);
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const std::uint64_t distance =
      step > 0 ? unsigned_of(stop) - unsigned_of(start) : unsigned_of(start) - unsigned_of(stop);
  const std::uint64_t stride = step > 0 ? unsigned_of(step) : 0 - unsigned_of(step);
  const std::uint64_t size = (distance - 1) / stride + 1;
  if (size > unsigned_of(std::numeric_limits<std::int64_t>::max()))
    throw Error(ErrorCode::invalid_argument,
                "stop - start = " + std::to_string(distance) + " makes more than 2^63 - 1 elements");
  return static_cast<std::int64_t>(size);
}

}  // namespace

RangeSource::RangeSource(std::int64_t start, std::int64_t stop, std::int64_t step)
    : start_(start), step_(step), size_(count(start, stop, step)) {}

Element RangeSource::at(std::int64_t index) const {
  return Element(static_cast<std::int64_t>(unsigned_of(start_) + unsigned_of(index) * unsigned_of(step_)));
}

OpRef range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  return indexed_source(
      "range", "start=" + std::to_string(start) + ", stop=" + std::to_string(stop) + ", step=" + std::to_string(step),
      std::make_shared<RangeSource>(start, stop, step));
}

}  // namespace ops

Dataset<std::int64_t> range(std::int64_t stop, CallSite site) { return range(0, stop, 1, site); }

Dataset<std::int64_t> range(std::int64_t start, std::int64_t stop, std::int64_t step, CallSite site) {
  return Dataset<std::int64_t>(graph::build(nullptr, "range", site, [&] { return ops::range(start, stop, step); }));
}

}  // namespace penstock
