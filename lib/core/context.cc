#include <penstock/context.h>
#include <penstock/error.h>

#include "lib/core/batch_block.h"
#include "lib/core/byte_count.h"

namespace penstock {

Tensor Outputs::slot(std::size_t i, DType type, const Shape& shape) const {
  if (i >= declared_)
    throw Error(ErrorCode::invalid_argument, "outputs.slot(" + std::to_string(i) + ") needs i < " +
                                                 std::to_string(declared_) +
                                                 ", the number given to outputs.declare() before");
  return rows_ == nullptr ? Tensor(type, shape) : rows_->row(turn_, i, type, shape);
}

std::size_t Outputs::batch_bytes(const Tensor& row) noexcept {
  const auto* const block = detail::BatchBlock::row_of(row).block;
  return block == nullptr ? 0 : block->bytes();
}

std::string Context::origin() const { return services_ == nullptr ? std::string() : services_->origin(stamp_); }

void Context::reserve(std::size_t bytes) {
  if (services_ == nullptr || services_->try_reserve(byte_count(bytes), may_retry_)) return;
  throw detail::RetryWhenMemoryIsFree{bytes};
}

// Slots from answered() on: those before may be gone. A copy that fails is that element's failure.
void Context::own(std::size_t end) noexcept {
  const std::size_t begin = answered();
  if (end <= begin) return;
  for (Slot& slot : lent_.subspan(begin, end - begin)) {
    if (!slot.is_element()) continue;
    try {
      slot.value.own();
    } catch (...) {
      slot.fail(detail::current_failure());
    }
  }
}

}  // namespace penstock
