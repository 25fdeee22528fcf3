// Mutex, MutexLock, CondVar: what the standard library has, and clang checks at compile time that they are used as the
// code says.
//
// A member that a mutex keeps says GUARDED_BY(mutex). A function that is called with it held says REQUIRES, one that
// takes it by itself EXCLUDES. clang refuses everything else (-Wthread-safety; see
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html, whose names these are); other compilers see none of it, and at
// run time nothing of it is left. Constructors and destructors are not looked at: nobody else has the object then.
// Atomics that others read without the lock have no mark.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define PENSTOCK_ANALYSED(attribute) __attribute__((attribute))
#else
#define PENSTOCK_ANALYSED(attribute)
#endif

#define CAPABILITY(name) PENSTOCK_ANALYSED(capability(name))  // a class whose objects are held and let go of
#define SCOPED_CAPABILITY \
  PENSTOCK_ANALYSED(scoped_lockable)  // a class whose objects hold one from their beginning to their end
#define GUARDED_BY(mutex) PENSTOCK_ANALYSED(guarded_by(mutex))
#define REQUIRES(...) \
  PENSTOCK_ANALYSED(requires_capability(__VA_ARGS__))                 // held when it is called, and when it returns
#define EXCLUDES(...) PENSTOCK_ANALYSED(locks_excluded(__VA_ARGS__))  // not held when it is called
#define ACQUIRE(...) PENSTOCK_ANALYSED(acquire_capability(__VA_ARGS__))
#define RELEASE(...) PENSTOCK_ANALYSED(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) PENSTOCK_ANALYSED(try_acquire_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS PENSTOCK_ANALYSED(no_thread_safety_analysis)

namespace penstock {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex of any class until the end of the block.
template <class M> class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(M& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  M& mutex_;
};

// The reverse: lets go of one that is held, until the end of the block, however that is left.
template <class M> class SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(M& mutex) RELEASE(mutex) : mutex_(mutex) { mutex.unlock(); }
  ~MutexUnlock() RELEASE() { mutex_.lock(); }  // of a class like this one it means: what the constructor did is undone
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  M& mutex_;
};

// A std::condition_variable of a Mutex. A wait may end though nobody has called: ask again what was waited for.
class CondVar {
 public:
  void notify_one() noexcept { changed_.notify_one(); }
  void notify_all() noexcept { changed_.notify_all(); }

  void wait(Mutex& mutex) REQUIRES(mutex) {
    Held held(mutex);
    changed_.wait(held.lock);
  }
  // False: the moment has come.
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point moment) REQUIRES(mutex) {
    Held held(mutex);
    return changed_.wait_until(held.lock, moment) == std::cv_status::no_timeout;
  }
  // Until it is there, but no longer than that. Whether it is.
  template <class Predicate>
  bool wait_for(Mutex& mutex, std::chrono::nanoseconds time, Predicate is_there) REQUIRES(mutex) {
    Held held(mutex);
    return changed_.wait_for(held.lock, time, std::move(is_there));
  }

 private:
  // The caller's hold on the mutex, as the standard library wants to see it.
  struct Held {
    explicit Held(Mutex& mutex) : lock(mutex.mutex_, std::adopt_lock) {}
    ~Held() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable changed_;
};

}  // namespace penstock
