// in_parallel: independent tasks on a few threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace penstock::exam {

// Runs task(0) .. task(count - 1), each once, and returns when all are done.
inline void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      for (std::size_t each = next++; each < count; each = next++) task(each);
    });
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace penstock::exam
