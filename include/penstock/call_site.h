// CallSite: the user's file and line of a call, for error texts. Taken by default arguments, never passed by hand.
//
// __builtin_FILE/LINE instead of std::source_location: clang 14 with libstdc++ 12 has no source_location. In a fluent
// chain clang reports the chain's first line for every call, so texts also name op and position.
#pragma once

#pragma GCC visibility push(default)

namespace penstock {

struct CallSite {
  const char* file = "";
  int line = 0;

  static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace penstock

#pragma GCC visibility pop
