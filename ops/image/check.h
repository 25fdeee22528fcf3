// Checks of arguments that several image functions share.
#pragma once

#include <penstock/error.h>
#include <penstock/image/view.h>

#include <cstddef>
#include <string>

#include "lib/core/text.h"

namespace penstock::image {

using penstock::in_quotes;

// The caller's memory must have exactly the values of an image of this size.
inline void check_room(std::size_t values, Size size, const char* function) {
  if (values == size.values()) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(function) + ": the output needs " + std::to_string(size.values()) +
                  " values, but the span has " + std::to_string(values));
}

inline void check_output_size(Size size, const char* function) {
  if (size.is_possible()) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(function) +
                  ": the output size must be positive and below 2^29 values, but is " +
                  std::to_string(size.height) + " x " + std::to_string(size.width));
}

}  // namespace penstock::image
