#include "ops/generator.h"

#include <penstock/ops.h>

#include <utility>

namespace penstock::ops {

GeneratorOp::GeneratorOp(std::shared_ptr<const detail::GeneratorFactory> factory, std::optional<bool> blocks)
    : factory_(std::move(factory)), blocks_(blocks) {
  if (!factory_) throw Error(ErrorCode::invalid_argument, "the generator is a null pointer; give a GeneratorFactory");
}

OpRef generator(std::shared_ptr<const detail::GeneratorFactory> factory, std::optional<bool> blocks) {
  return std::make_shared<GeneratorOp>(std::move(factory), blocks);
}

}  // namespace penstock::ops
