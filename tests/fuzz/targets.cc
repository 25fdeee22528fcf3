#include "tests/fuzz/targets.h"

#include <penstock/error.h>

#include <cstdio>
#include <cstdlib>

namespace penstock::fuzz {

void require(bool holds, const char* promise, const char* file, int line) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, promise);
  std::abort();
}

bool succeeds(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    require(error.what() != std::string_view(), "an error says what is wrong");
    require(error.code() != ErrorCode::internal, "bad input is not an internal error");
    return false;
  }
}

}  // namespace penstock::fuzz
