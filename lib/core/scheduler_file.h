// What the kernel's scheduler tells of a thread: whether it sleeps; how long it was ready to run, and no core was free.
//
// The latter's file stays open: to open it costs ten times what reading does. Of the process's descriptors three
// quarters are left to others: a thread that comes after that has none, and its delay is not known.
#pragma once

#include <cstdint>
#include <optional>

namespace penstock {

// By which the system knows the calling thread.
int this_thread_number() noexcept;

// Whether that thread of this process waits for something at this moment: it neither runs nor is kept from a core.
// False where the system does not tell. Opens a file, 10 to 30 us.
bool thread_sleeps(int number) noexcept;

// /proc/thread-self/schedstat of the thread that makes this object. Any thread may read it.
class SchedulerFile {
 public:
  SchedulerFile() noexcept;
  ~SchedulerFile();
  SchedulerFile(const SchedulerFile&) = delete;
  SchedulerFile& operator=(const SchedulerFile&) = delete;

  // Since the thread began; none: the system does not tell, or the thread has ended. ~1 us.
  std::optional<std::int64_t> delay_ns() const noexcept;

 private:
  int file_ = -1;
};

}  // namespace penstock
