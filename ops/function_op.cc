#include "ops/function_op.h"

#include <utility>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

void check_parallelism(const detail::Function& function, const Tunable& parallelism) {
  graph::check_tunable("parallelism", parallelism, 1);
  if (function.callable_in_parallel() || parallelism.high() == 1) return;
  throw Error(ErrorCode::invalid_argument,
              "parallelism must be 1 for a function that is not callable as const, but is " +
                  graph::to_string(parallelism) +
                  ": calls that run at once would change its state together");
}

}  // namespace

FunctionOp::FunctionOp(detail::FunctionRef function, Tunable parallelism, const MapOptions& options)
    : function_(std::move(function)),
      parallelism_(parallelism),
      order_(options.order),
      blocks_(options.blocks),
      bytes_hint_(options.bytes_hint) {
  check_parallelism(*function_, parallelism_);
}

std::optional<std::size_t> FunctionOp::bytes_hint(const Element& input) const {
  return bytes_hint_ ? std::optional(bytes_hint_(input)) : std::nullopt;
}

}  // namespace penstock::ops
