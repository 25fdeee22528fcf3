// What kind of failure a number of errno is.
#pragma once

#include <penstock/error.h>

#pragma GCC visibility push(default)

namespace penstock {

// Numbers that tell nothing in general give `other`. Safe to call from any thread.
ErrorCode code_of_errno(int number, ErrorCode other) noexcept;

}  // namespace penstock

#pragma GCC visibility pop
