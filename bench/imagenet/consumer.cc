#include "bench/imagenet/consumer.h"

#include <algorithm>
#include <thread>

#include "bench/imagenet/interrupt.h"

namespace penstock::bench {

using Clock = std::chrono::steady_clock;

void play_step(std::chrono::nanoseconds time, double cpu) {
  if (time.count() <= 0) return;
  const auto begin = Clock::now();
  const auto computed =
      begin + std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * cpu));
  const auto end = begin + time;
  while (Clock::now() < computed && !interrupted()) {
  }
  // In slices, so that Ctrl-C is answered.
  for (auto now = Clock::now(); now < end && !interrupted(); now = Clock::now())
    std::this_thread::sleep_for(std::min<Clock::duration>(end - now, std::chrono::milliseconds(100)));
}

}  // namespace penstock::bench
