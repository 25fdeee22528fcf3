#include "ops/shuffle_buffer.h"

#include <limits>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

}  // namespace

BufferedShuffleOp::BufferedShuffleOp(std::int64_t buffer_size, const ShuffleOptions& options)
    : capacity_(buffer_size == UNKNOWN_CARDINALITY ? all : buffer_size), seed_(options.seed), options_(options) {
  if (capacity_ < 1) graph::reject("buffer_size", "at least 1, or UNKNOWN_CARDINALITY for all elements", buffer_size);
}

std::string BufferedShuffleOp::seeds_text() const {
  const auto& global = options_.global_seed;
  return ", " + seed_.text() + (global ? ", global_seed=" + std::to_string(*global) : "");
}

std::string BufferedShuffleOp::parameters_with(const std::string& seeds) const {
  const std::string size = capacity_ == all ? "all" : std::to_string(capacity_);
  return "buffer_size=" + size + (options_.order == ShuffleOrder::tensorflow ? ", order=tensorflow" : "") + seeds +
         (options_.reshuffle_each_epoch ? "" : ", reshuffle_each_epoch=false");
}

Flow BufferedShuffleOp::flow(const Flow& input) const {
  if (capacity_ == all && input.cardinality == INFINITE_CARDINALITY)
    throw Error(ErrorCode::invalid_argument,
                "buffer_size is UNKNOWN_CARDINALITY (all elements), but the input never ends: give a "
                "number, or shuffle before repeat");
  return input;
}

}  // namespace penstock::ops
