// generator: elements made one after the other by a callable. Documented at
// penstock::from_generator (sources.h).
#pragma once

#include <penstock/detail/functions.h>
#include <penstock/op.h>

#include <memory>
#include <optional>

namespace penstock::ops {

class GeneratorOp final : public SourceOp {
 public:
  // blocks: unset if nobody has said whether its calls wait.
  explicit GeneratorOp(std::shared_ptr<const detail::GeneratorFactory> factory,
                       std::optional<bool> blocks = std::nullopt);
  std::string name() const override { return "from_generator"; }
  Flow flow(const Flow&) const override { return {}; }  // how many it will give, only it knows
  Form form() const override { return blocks_.value_or(false) ? Form::blocks : Form::computes; }
  bool form_is_known() const override { return blocks_.has_value(); }
  std::unique_ptr<SourceReader> open() const override { return factory_->open(); }

 private:
  std::shared_ptr<const detail::GeneratorFactory> factory_;
  std::optional<bool> blocks_;
};

}  // namespace penstock::ops
