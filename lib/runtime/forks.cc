#include "lib/runtime/forks.h"

#include <pthread.h>

#include <atomic>
#include <utility>

#include <penstock/error.h>

namespace penstock::runtime {
namespace {

std::atomic<std::uint32_t> number_of_process{1};

void count() noexcept { number_of_process.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

std::uint32_t process_number() noexcept {
  // Before the first run of the process asks, there is nothing that a fork could break.
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, &count);
  return number_of_process.load(std::memory_order_relaxed);
}

void check_process(std::uint32_t owner) {
  if (owner == process_number()) return;
  throw Error(ErrorCode::failed_precondition,
              "a run was used in a forked child: its threads are in the parent. Start the run after the fork");
}

Knob of_this_process(Knob knob) {
  const std::uint32_t owner = process_number();
  knob.get = [owner, get = std::move(knob.get)] {
    check_process(owner);
    return get();
  };
  knob.set = [owner, set = std::move(knob.set)](std::int64_t to) {
    check_process(owner);
    set(to);
  };
  return knob;
}

}  // namespace penstock::runtime
