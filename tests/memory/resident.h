// What the system says this process has in memory.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace memory_stress {

// A line of /proc/self/status in bytes: VmRSS is what is resident now, VmHWM the most so far (proc(5)).
inline std::int64_t status_bytes(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key + ":", 0) == 0) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

// 5 resets VmHWM to what is resident now (proc(5)). Where that is forbidden, the peak includes the
// program's start, which is small.
inline void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace memory_stress
