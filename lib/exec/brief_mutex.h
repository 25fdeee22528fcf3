// BriefMutex: for sections of a microsecond that several workers enter again and again.
//
// A thread that finds it taken looks again for about as long as such a section lasts before it sleeps: to sleep and be
// woken costs some 20 us of CPU time and holds up the elements behind, and std::mutex does so at once.
#pragma once

#include <mutex>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "lib/base/mutex.h"

namespace penstock::exec {

class CAPABILITY("mutex") BriefMutex {
 public:
  void lock() ACQUIRE() {
    for (int look = 0; look < kLooks; ++look) {
      if (mutex_.try_lock()) return;
      pause();
    }
    mutex_.lock();
  }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  static constexpr int kLooks = 100;  // 2 to 4 us on x86

  static void pause() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  std::mutex mutex_;
};

}  // namespace penstock::exec
