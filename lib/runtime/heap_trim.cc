#include "lib/runtime/heap_trim.h"

#include <algorithm>
#include <cstdio>

#ifdef __GLIBC__
#include <malloc.h>
#include <unistd.h>
#endif

#include "lib/core/heap_top.h"

namespace penstock::runtime {
namespace {

constexpr std::int64_t kPause = 20'000'000;                     // ns
constexpr std::int64_t kWorthIt = 16 << 20, kGrowth = 8 << 20;  // bytes

#ifdef __GLIBC__
// The second number of this line, in pages (proc(5)). ~5 us.
std::int64_t read_resident() noexcept {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long size = 0, resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &size, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<std::int64_t>(resident) * sysconf(_SC_PAGESIZE) : 0;
}
void trim_heap() noexcept {
  malloc_trim(0);
  ask_for_heap_tops();
}
#else
std::int64_t read_resident() noexcept { return 0; }
void trim_heap() noexcept {}
#endif

}  // namespace

HeapTrim::System HeapTrim::system() noexcept { return {read_resident, trim_heap}; }

void HeapTrim::look(std::int64_t now_ns, std::int64_t used, std::int64_t limit) noexcept {
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kPause;
  const auto kept = [&] { return std::max<std::int64_t>(system_.resident_bytes() - before_ - used, 0); };
  const std::int64_t now = kept();
  left_ = std::min(left_, now);  // threads give back what their arenas have when they come to it
  if (now < std::max({kWorthIt, limit / 8, left_ + std::max(kGrowth, left_ / 4)})) return;
  system_.trim();
  left_ = kept();
}

}  // namespace penstock::runtime
