#include "lib/exec/stage_plan.h"

#include <exception>

#include <penstock/error.h>

namespace penstock::exec {

std::string StagePlan::origin(std::int64_t ordinal) const {
  const IndexedSource* const names = label.names;
  try {
    return names == nullptr || ordinal < 0 || ordinal >= names->size() ? std::string() : names->origin(ordinal);
  } catch (...) {
    return "? (the source failed to name it: " + message_of(std::current_exception()) + ")";
  }
}

}  // namespace penstock::exec
