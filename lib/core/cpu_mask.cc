#include "lib/core/cpu_mask.h"

#include <sched.h>
#include <unistd.h>

#include <cstddef>
#include <memory>

namespace penstock {
namespace {

class Mask {
 public:
  // Of a thread; 0: the calling one.
  static Mask of(pid_t thread) noexcept {
    // The kernel refuses a mask that is narrower than its own, whose width it does not tell.
    for (int width = 1024; width <= 1 << 20; width *= 4) {
      Mask mask(width);
      if (mask.set_ && ::sched_getaffinity(thread, mask.bytes_, mask.set_.get()) == 0) return mask;
    }
    return Mask(0);
  }

  bool is_known() const noexcept { return set_ != nullptr; }
  int count() const noexcept { return CPU_COUNT_S(bytes_, set_.get()); }
  bool is_as(const Mask& other) const noexcept {
    return is_known() && other.is_known() && bytes_ == other.bytes_ &&
           CPU_EQUAL_S(bytes_, set_.get(), other.set_.get());
  }
  void give_to_this_thread() const noexcept { static_cast<void>(::sched_setaffinity(0, bytes_, set_.get())); }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };

  explicit Mask(int width) noexcept
      : bytes_(CPU_ALLOC_SIZE(static_cast<std::size_t>(width))),
        set_(width == 0 ? nullptr : CPU_ALLOC(static_cast<std::size_t>(width))) {}

  std::size_t bytes_;
  std::unique_ptr<cpu_set_t, Free> set_;
};

}  // namespace

int cpus_in_mask_of_process(int otherwise) noexcept {
  const Mask mask = Mask::of(::getpid());
  return mask.is_known() ? mask.count() : otherwise;
}

void take_mask_of_process() noexcept {
  const Mask wanted = Mask::of(::getpid());
  if (wanted.is_known() && !wanted.is_as(Mask::of(0))) wanted.give_to_this_thread();
}

}  // namespace penstock
