#include "lib/graph/arguments.h"

#include <penstock/error.h>

#include <limits>

namespace penstock::graph {

void reject(const std::string& argument, const std::string& allowed, std::int64_t value) {
  throw Error(ErrorCode::invalid_argument, argument + " must be " + allowed + ", but is " + std::to_string(value));
}

void check_tunable(const std::string& argument, const Tunable& value, std::int64_t least) {
  if (value.low() < least) reject(argument, "at least " + std::to_string(least), value.low());
  if (value.high() < value.low())
    reject("upper bound of " + argument, "at least its lower bound " + std::to_string(value.low()), value.high());
}

std::string to_string(const Tunable& value) {
  if (!value.is_automatic()) return std::to_string(value.low());
  if (value.high() == std::numeric_limits<std::int64_t>::max() && value.low() <= 1) return "auto";
  return std::to_string(value.low()) + ".." + std::to_string(value.high());
}

}  // namespace penstock::graph
