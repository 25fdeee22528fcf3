#include "bench/imagenet/process.h"

#include <fstream>
#include <string>

namespace penstock::bench {

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }  // proc(5)

std::int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));
  return 0;
}

}  // namespace penstock::bench
