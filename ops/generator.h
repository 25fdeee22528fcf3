// generator: elements made one after the other by a callable. Documented at
// penstock::from_generator (sources.h).
#pragma once

#include <penstock/detail/functions.h>
#include <penstock/op.h>

namespace penstock::ops {

class GeneratorOp final : public SourceOp {
 public:
  explicit GeneratorOp(std::shared_ptr<const detail::GeneratorFactory> factory);
  std::string name() const override { return "from_generator"; }
  Flow flow(const Flow&) const override { return {}; }  // how many it will give, only it knows
  std::unique_ptr<SourceReader> open() const override { return factory_->open(); }

 private:
  std::shared_ptr<const detail::GeneratorFactory> factory_;
};

}  // namespace penstock::ops
