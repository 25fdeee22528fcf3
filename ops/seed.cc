#include "ops/seed.h"

#include <random>

namespace penstock::ops {
namespace {

std::uint64_t draw_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace

Seed::Seed(const std::optional<std::uint64_t>& asked)
    : value(asked ? *asked : draw_seed()), is_given(asked.has_value()) {}

std::string Seed::text() const { return "seed=" + std::to_string(value) + (is_given ? "" : " (drawn)"); }

}  // namespace penstock::ops
