// HeldBytes: what the state of an op says that it keeps. Until it answers again after it has thrown, what it said last
// is charged.
#pragma once

#include <cstdint>
#include <utility>

namespace penstock::exec {

class HeldBytes {
 public:
  // `fail`: called while what the state has thrown is handled; only the first time, for it is asked after each call.
  template <class State, class Fail> void ask(const State& state, Fail&& fail) {
    const bool failed_before = std::exchange(failed_, true);
    try {
      bytes_ = state.held_bytes();
      failed_ = false;
    } catch (...) {
      if (!failed_before) fail();
    }
  }
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
  bool failed_ = false;  // when it was asked last
};

}  // namespace penstock::exec
