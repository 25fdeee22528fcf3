// Where the system gives no more threads, as a container with a small pids.max.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <penstock/sources.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace {

std::atomic<bool> gives_threads{true};

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return gives_threads ? real(thread, attributes, function, argument) : EAGAIN;
}

namespace penstock {
namespace {

// One thread computes, and that one waits for the other run.
TEST(FewThreads, SufficeForACallThatReadsAnotherRun) {
  auto inner = range(200).map([](std::int64_t x) { return x; }, 1).start({.threads = 1, .tune = false});
  EXPECT_EQ(*inner.next(), 0);
  gives_threads = false;
  auto outer =
      range(150).map([&](std::int64_t x) { return *inner.next() - x; }, 1).start({.threads = 1, .tune = false});
  std::int64_t count = 0;
  while (const auto difference = outer.next()) {
    EXPECT_EQ(*difference, 1);
    ++count;
  }
  gives_threads = true;
  EXPECT_EQ(count, 150);
}

}  // namespace
}  // namespace penstock
