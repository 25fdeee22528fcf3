#include "lib/core/left_out.h"

#include <cstdio>
#include <string>

#include <penstock/error.h>

namespace penstock {

void LeftOut::end_with(std::int64_t errors) noexcept {
  left_ = {};
  if (keeps_numbers_) return;
  std::fprintf(stderr,
               "penstock: errors that were delivered before the checkpoint was taken do not happen this time (%lld of "
               "them): elements near its place may be missing, or come twice\n",
               static_cast<long long>(errors));
}

std::exception_ptr fails_this_time(const std::exception_ptr& cause) noexcept {
  try {
    return std::make_exception_ptr(Error(
        code_of(cause), "what did not fail before the checkpoint was taken fails this time: " + message_of(cause) +
                            ". Resume once more, or start the epoch anew, in another run"));
  } catch (...) {
    return cause;
  }
}

std::exception_ptr as_told(const std::exception_ptr& thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const FailsThisTime& failure) {
    return fails_this_time(failure.cause);
  } catch (...) {
    return thrown;
  }
}

}  // namespace penstock
