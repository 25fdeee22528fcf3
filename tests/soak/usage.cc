#include "tests/soak/usage.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "lib/base/payload_pool.h"

namespace soak {
namespace {

namespace fs = std::filesystem;

std::int64_t entries_of(const char* folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

// The second number of /proc/self/statm (proc(5)), in pages.
std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  if (!(file >> size >> resident)) throw std::runtime_error("cannot read /proc/self/statm");
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t live_bytes() {
  const struct mallinfo2 heap = ::mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

std::int64_t quantile_of(std::vector<Usage> samples, std::int64_t Usage::*number, double share) {
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(samples.size() - 1));
  std::ranges::nth_element(samples, at, {}, number);
  return (*at).*number;
}

}  // namespace

std::int64_t most_kept() {
  const std::size_t peak = penstock::payload_pool().stats().peak_live;
  return static_cast<std::int64_t>(std::max(penstock::PayloadPoolOptions().idle_floor, peak + peak / 4));
}

// Listing /proc/self/fd takes a descriptor, the same one more each time.
Usage usage_now() {
  const std::int64_t resident = resident_bytes();
  penstock::payload_pool().trim(0);
  const std::int64_t without_pool = resident_bytes();
  ::malloc_trim(0);
  return {.resident = resident,
          .kept = resident - without_pool,
          .settled = resident_bytes(),
          .live = live_bytes(),
          .threads = entries_of("/proc/self/task"),
          .descriptors = entries_of("/proc/self/fd")};
}

void Window::add(const Window& other) { samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end()); }

Usage Window::median() const { return quantile(0.5); }
Usage Window::largest() const { return quantile(1.0); }

Usage Window::quantile(double share) const {
  if (empty()) return {};
  return {.resident = quantile_of(samples_, &Usage::resident, share),
          .kept = quantile_of(samples_, &Usage::kept, share),
          .settled = quantile_of(samples_, &Usage::settled, share),
          .live = quantile_of(samples_, &Usage::live, share),
          .threads = quantile_of(samples_, &Usage::threads, share),
          .descriptors = quantile_of(samples_, &Usage::descriptors, share)};
}

}  // namespace soak
