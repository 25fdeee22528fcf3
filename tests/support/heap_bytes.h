// How much memory the process has from malloc and operator new, to see what stays behind a call.
// 0 under sanitizers, which have allocators of their own: compare differences.
//
//   const std::size_t before = heap_bytes();
//   call();
//   EXPECT_LT(heap_bytes(), before + MiB);
#pragma once

#include <malloc.h>

#include <cstddef>

namespace penstock::test {

inline std::size_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace penstock::test
