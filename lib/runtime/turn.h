// Turn: a request of the consumer's, from its beginning to its end.
#pragma once

#include <atomic>
#include <string>

#include <penstock/error.h>

namespace penstock::runtime {

// Error(failed_precondition) while another one is under way: both threads would take from the same hands. The first one
// goes on unharmed.
class Turn {
 public:
  Turn(std::atomic<bool>& taken, const char* request) : taken_(taken) {
    if (!taken_.exchange(true, std::memory_order_acquire)) return;
    throw Error(
        ErrorCode::failed_precondition,
        std::string(request) +
            " was called while another thread was in next(), epoch() or checkpoint() of the same run: a run "
            "has one consumer at a time. Start a run for each thread, or let one take the elements and hand them on");
  }
  ~Turn() { taken_.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& taken_;
};

}  // namespace penstock::runtime
