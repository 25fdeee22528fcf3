#include <penstock/image/jpeg.h>

#include <array>

namespace penstock::image {

std::string_view to_string(Refusal refusal) noexcept {
  constexpr std::array<std::string_view, refusal_count> names{
      "none", "process", "components", "sampling", "scans", "tables", "marker", "options", "data", "coefficients"};
  return names[static_cast<std::size_t>(refusal)];
}

}  // namespace penstock::image
