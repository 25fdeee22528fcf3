#include <penstock/op.h>

#include <new>
#include <typeinfo>
#include <utility>

namespace penstock {
namespace {

// An op that says it has a form must have that form's function.
[[noreturn]] void throw_not_written(const Op& op, const char* function) {
  throw Error(ErrorCode::unimplemented,
              op.name() + ": its form needs " + function + ", which the op does not override");
}

const std::exception_ptr& no_memory() noexcept {
  static const std::exception_ptr error = std::make_exception_ptr(std::bad_alloc());
  return error;
}

}  // namespace

std::exception_ptr detail::current_failure() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc& error) {
    return typeid(error) == typeid(std::bad_alloc) ? no_memory() : std::current_exception();
  } catch (...) {
    return std::current_exception();
  }
}

Completion::~Completion() {
  if (!target_) return;
  // Made before it is handed over: exceptions share their text, and TSan cannot see how the C++ library counts its
  // owners.
  auto lost = std::make_exception_ptr(
      Error(ErrorCode::internal, "completion was dropped without an answer: call complete() or fail() on every path"));
  fail(std::move(lost));
}

void Completion::complete(Element value) noexcept {
  if (const auto target = std::exchange(target_, nullptr)) target->finish(Slot::Kind::element, std::move(value));
}

void Completion::complete_many(std::vector<Element> values) {
  if (const auto target = std::exchange(target_, nullptr))
    target->finish(
        Slot::Kind::many,
        Element(std::unique_ptr<detail::Results>(std::make_unique<detail::ListResults<Element>>(std::move(values)))));
}

void Completion::fail(std::exception_ptr error) noexcept {
  if (const auto target = std::exchange(target_, nullptr))
    target->finish(Slot::Kind::failed, Element(std::move(error)));
}

void ElementwiseOp::run(std::span<Slot>, Context&) const { throw_not_written(*this, "run()"); }

void ElementwiseOp::start(Element, Context&, Completion) const { throw_not_written(*this, "start()"); }

std::optional<std::size_t> ElementwiseOp::outputs_of(const Element&) const { return std::nullopt; }

std::optional<std::size_t> ElementwiseOp::bytes_hint(const Element&) const { return std::nullopt; }

std::unique_ptr<IndexSequence> StreamOp::over_index(std::unique_ptr<IndexSequence>) const { return nullptr; }

}  // namespace penstock
