#include "ops/image/jpeg_refusal.h"

#include <array>
#include <cstddef>

namespace penstock::image {

std::string_view to_string(Refusal refusal) noexcept {
  constexpr std::array<std::string_view, 10> names{"none",   "process", "components", "sampling", "scans",
                                                   "tables", "marker",  "options",    "data",     "coefficients"};
  return names[static_cast<std::size_t>(refusal)];
}

}  // namespace penstock::image
