// HeapTrim: gives back to the system what the C library keeps of freed memory, where that is much beside what runs may
// hold.
//
// Elements are often users' own vectors and strings: made on one thread, freed on another. glibc raises its thresholds
// as large blocks are freed (mallopt(3), M_MMAP_THRESHOLD: up to 32 MiB, in each of its arenas), and never gives back
// by itself what is free between blocks in use. Measured: lists of 8 MB each, 64 MiB on the books, 230 MiB resident.
//
// malloc_trim(3) leaves alone what is free at the end of an arena; threads that use it give that back themselves
// (lib/core/heap_top.h). Measured: values of 1 KB to 16 MB, made by blocking calls on sixteen arenas, 45 MiB on the
// books, 150 resident, 80 with it.
//
// malloc_trim(3) takes some 100 us to some ms, during which threads may wait to allocate. So it is called only where
// resident memory has grown by much more than the books say, and less and less often where that is no help: what has
// grown is then the program's own.
#pragma once

#include <cstdint>
#include <limits>

namespace penstock::runtime {

class HeapTrim {
 public:
  // What it does it by: replaced by tests.
  struct System {
    std::int64_t (*resident_bytes)() noexcept;  // of the process; 0: nobody knows
    void (*trim)() noexcept;
  };
  static System system() noexcept;  // Linux and glibc; elsewhere nothing is known, and nothing done

  explicit HeapTrim(System system = HeapTrim::system()) noexcept : system_(system) {}

  // Before the first of some runs: what is there is not theirs.
  void begin() noexcept { before_ = system_.resident_bytes(); }

  // Now and then while there are runs: what their elements hold by the books, and what the one with the least may hold.
  void look(std::int64_t now_ns, std::int64_t used, std::int64_t limit) noexcept;

 private:
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

  bool has_helped(std::int64_t resident) noexcept;

  System system_;
  std::int64_t before_ = 0;
  std::int64_t next_ns_ = 0;
  std::int64_t pause_ns_ = 0;
  std::int64_t wanted_ = kAny;  // bytes: it has helped if fewer are resident at the next look
};

}  // namespace penstock::runtime
