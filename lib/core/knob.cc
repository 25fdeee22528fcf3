#include <penstock/knob.h>

#include <array>
#include <cstddef>

namespace penstock {

std::string_view to_string(KnobKind kind) noexcept {
  static constexpr std::array<std::string_view, 9> kNames = {
      "parallelism", "window", "buffer", "placement", "grain_ns", "prefetch", "memory", "cpu_slots", "priority"};
  static_assert(kNames.size() == static_cast<std::size_t>(KnobKind::priority) + 1);
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace penstock
