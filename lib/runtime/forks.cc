#include "lib/runtime/forks.h"

#include <pthread.h>

#include <atomic>

namespace penstock::runtime {
namespace {

std::atomic<std::uint32_t> number{1};

void count() noexcept { number.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

std::uint32_t process_number() noexcept {
  // Before the first run of the process asks, there is nothing that a fork could break.
  [[maybe_unused]] static const int registered = ::pthread_atfork(nullptr, nullptr, &count);
  return number.load(std::memory_order_relaxed);
}

}  // namespace penstock::runtime
