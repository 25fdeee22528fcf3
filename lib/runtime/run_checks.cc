#include "lib/runtime/run_checks.h"

#include <string>

#include <penstock/error.h>
#include <penstock/run.h>

#include "lib/exec/body_scope.h"

namespace penstock::runtime {
namespace {

constexpr int kDeepestNesting = 64;

void check_between(const char* option, int value, int low, int high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCode::invalid_argument, std::string("RunOptions::") + option + " is " + std::to_string(value) +
                                               ", but must be " + std::to_string(low) + " to " + std::to_string(high));
}

void check_policy(const ErrorPolicy& policy) {
  if (policy.skip_at_most >= -1) return;
  throw Error(ErrorCode::invalid_argument, "RunOptions::on_error skips at most " + std::to_string(policy.skip_at_most) +
                                               " errors, but must skip 0 or more, or -1 for all");
}

}  // namespace

void check_options(const RunOptions& options) {
  check_between("threads", options.threads, 0, 1024);
  check_between("open_io", options.open_io, 1, 256);
  check_policy(options.on_error);
}

void check_nesting() {
  if (exec::BodyScope::depth() < kDeepestNesting) return;
  throw Error(ErrorCode::failed_precondition,
              "runs are nested " + std::to_string(kDeepestNesting) +
                  " deep: each was started inside a function of the one before, and the stack would overflow. Does a "
                  "function iterate "
                  "the dataset that it belongs to? Iterate another one there, or move the loop out of the function");
}

}  // namespace penstock::runtime

void penstock::detail::refuse_moved_run() {
  throw Error(ErrorCode::failed_precondition, "the run was moved from: use the one that it was moved to");
}
