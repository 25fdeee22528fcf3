#include "ops/enumerate.h"

#include <penstock/ops.h>

#include <span>
#include <utility>

#include "ops/merging.h"

namespace penstock::ops {

EnumerateOp::EnumerateOp(std::int64_t start, detail::StepFactoryRef step)
    : StepOp(step), start_(start), numbering_(step->open()) {}

std::optional<graph::Positions> EnumerateOp::over_positions(std::vector<graph::Positions> inputs) const {
  if (!inputs.front().is_fixed) return std::nullopt;
  return rows_of(inputs, [numbering = numbering_](std::int64_t row, std::span<Element> parts) {
    numbering->run(parts.front(), row);
    return std::move(parts.front());
  });
}

OpRef enumerate(std::int64_t start, detail::StepFactoryRef step) {
  return std::make_shared<EnumerateOp>(start, std::move(step));
}

}  // namespace penstock::ops
