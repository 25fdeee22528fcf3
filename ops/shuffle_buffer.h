// What shuffles say of their buffer_size, whatever their order.
#pragma once

#include <penstock/op.h>

#include <cstdint>
#include <limits>
#include <string>

#include "lib/graph/arguments.h"

namespace penstock::ops {

class ShuffleBuffer {
 public:
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

  // Error(invalid_argument) unless buffer_size >= 1 or UNKNOWN_CARDINALITY.
  explicit ShuffleBuffer(std::int64_t buffer_size) : capacity_(buffer_size == UNKNOWN_CARDINALITY ? all : buffer_size) {
    if (capacity_ < 1) graph::reject("buffer_size", "at least 1, or UNKNOWN_CARDINALITY for all elements", buffer_size);
  }

  std::int64_t capacity() const noexcept { return capacity_; }  // `all`: as many as there are
  std::string text() const { return "buffer_size=" + (capacity_ == all ? "all" : std::to_string(capacity_)); }

  // Error(invalid_argument) where it would never be full.
  void check_input(const Flow& input) const {
    if (capacity_ < all || input.cardinality != INFINITE_CARDINALITY) return;
    throw Error(ErrorCode::invalid_argument,
                "buffer_size is UNKNOWN_CARDINALITY (all elements), but the input never ends: give a "
                "number, or shuffle before repeat");
  }

 private:
  std::int64_t capacity_;
};

}  // namespace penstock::ops
