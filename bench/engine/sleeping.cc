#include "bench/engine/sleeping.h"

#include <vector>

namespace penstock::bench {

Cost sleep_on_plain_threads(std::int64_t sleeps, std::chrono::milliseconds length) {
  const Meter meter;
  std::atomic<std::int64_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kSleepers; ++i) {
      threads.emplace_back([&next, sleeps, length] {
        while (next.fetch_add(1) < sleeps) std::this_thread::sleep_for(length);
      });
    }
  }
  return meter.stop();
}

}  // namespace penstock::bench
