// What a function throws that is given what it cannot use.
#pragma once

#include <string>

#include <penstock/error.h>

namespace penstock {

// Error(invalid_argument).
[[noreturn]] inline void fail_argument(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

}  // namespace penstock
