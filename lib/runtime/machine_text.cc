#include "lib/runtime/machine_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace penstock::runtime {
namespace {

constexpr std::array<std::string_view, 3> kModel = {"model name", "CPU implementer",
                                                    "CPU part"};  // the first on x86, the others on arm64

// Lines of the first CPU alone: those of all would take a large machine milliseconds to make.
std::string cpu_model(const std::string& path) {
  std::ifstream file(path);
  std::string model;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const bool tells = std::ranges::any_of(kModel, [&line](std::string_view name) { return line.starts_with(name); });
    if (tells) model += line + ", ";
  }
  return model;
}

// Rounded: what the kernel keeps for itself may differ from one start to the next.
std::string memory_size(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  std::int64_t kib = 0;
  if (!(file >> name >> kib) || name != "MemTotal:") return {};
  return std::to_string((kib + (1 << 19)) >> 20) + " GiB";
}

}  // namespace

std::string machine_text(const std::string& root) {
  return cpu_model(root + "/proc/cpuinfo") + memory_size(root + "/proc/meminfo");
}

}  // namespace penstock::runtime
