#include "ops/random.h"

#include <penstock/ops.h>
#include <penstock/sources.h>

namespace penstock {
namespace {
// Keeps the numbers apart from those of Context::rng() and of shuffles, which a user may have given the same seed.
constexpr std::uint32_t kStream = 0x72616E64;  // "rand"
}  // namespace

Element ops::RandomSource::at(std::int64_t index) const {
  const auto i = static_cast<std::uint64_t>(index);
  const PhiloxCounter words =
      philox4x32({static_cast<std::uint32_t>(i >> 32), static_cast<std::uint32_t>(i), kStream, 0}, key_);
  return Element(static_cast<std::int64_t>((std::uint64_t{words[0]} << 32 | words[1]) >> 1));
}

OpRef ops::random(std::uint64_t seed) {
  return indexed_source("random", "seed=" + std::to_string(seed), std::make_shared<RandomSource>(seed));
}

Dataset<std::int64_t> random(std::uint64_t seed, CallSite site) {
  return Dataset<std::int64_t>(graph::build(nullptr, "random", site, [&] { return ops::random(seed); }));
}

}  // namespace penstock
