#include <penstock/op.h>

#include <utility>

#include "lib/core/batch_block.h"
#include "lib/core/byte_count.h"

namespace penstock {
namespace {

// An op that says it has a form must have that form's function.
[[noreturn]] void throw_not_written(const Op& op, const char* function) {
  throw Error(ErrorCode::unimplemented,
              op.name() + ": its form needs " + function + ", which the op does not override");
}

}  // namespace

Tensor Outputs::slot(std::size_t i, DType type, const Shape& shape) const {
  if (i >= declared_)
    throw Error(ErrorCode::invalid_argument, "outputs.slot(" + std::to_string(i) + ") needs i < " +
                                                 std::to_string(declared_) +
                                                 ", the number given to outputs.declare() before");
  return places_ == nullptr ? Tensor(type, shape) : places_->slot(turn_, i, type, shape);
}

std::size_t Outputs::batch_bytes(const Tensor& slot) noexcept {
  const auto* const block = detail::BatchBlock::row_of(slot).block;
  return block == nullptr ? 0 : block->bytes();
}

std::string Context::origin() const {
  return services_ == nullptr ? std::string() : services_->origin(stamp_.ordinal);
}

void Context::reserve(std::size_t bytes) {
  if (services_ == nullptr || services_->try_reserve(byte_count(bytes), may_retry_)) return;
  throw detail::RetryWhenMemoryIsFree{bytes};
}

Completion::~Completion() {
  if (!target_) return;
  // Made before it is handed over: exceptions share their text, and TSan cannot see how the C++ library counts its owners.
  auto lost = std::make_exception_ptr(Error(ErrorCode::internal, "completion was dropped without an answer: call complete() or fail() on every path"));
  fail(std::move(lost));
}

void Completion::complete(Element value) noexcept {
  if (const auto target = std::exchange(target_, nullptr))
    target->finish(Slot::Kind::element, std::move(value));
}

void Completion::complete_many(std::vector<Element> values) {
  if (const auto target = std::exchange(target_, nullptr))
    target->finish(Slot::Kind::many, Element(std::move(values)));
}

void Completion::fail(std::exception_ptr error) noexcept {
  if (const auto target = std::exchange(target_, nullptr))
    target->finish(Slot::Kind::failed, Element(std::move(error)));
}

void ElementwiseOp::run(std::span<Slot>, Context&) const { throw_not_written(*this, "run()"); }

void ElementwiseOp::start(Element, Context&, Completion) const {
  throw_not_written(*this, "start()");
}

std::optional<std::size_t> ElementwiseOp::outputs_of(const Element&) const { return std::nullopt; }

std::optional<std::size_t> ElementwiseOp::bytes_hint(const Element&) const { return std::nullopt; }

std::unique_ptr<IndexSequence> StreamOp::over_index(std::unique_ptr<IndexSequence>) const {
  return nullptr;
}

}  // namespace penstock
