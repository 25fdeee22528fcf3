// range: the integers start, start + step, ... as far as, but without, stop. Arithmetic of 64 bits,
// no overflow. Documented at penstock::range (sources.h).
#pragma once

#include <penstock/op.h>

namespace penstock::ops {

class RangeSource final : public IndexedSource {
 public:
  // Error(invalid_argument) if step is 0 or there are more than 2^63 - 1 integers.
  RangeSource(std::int64_t start, std::int64_t stop, std::int64_t step);
  std::int64_t size() const override { return size_; }
  Element at(std::int64_t index) const override;

 private:
  std::int64_t start_;
  std::int64_t step_;
  std::int64_t size_;
};

}  // namespace penstock::ops
