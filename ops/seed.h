// Seed: the one that the user has given, or else one that is drawn when the op is built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace penstock::ops {

struct Seed {
  explicit Seed(const std::optional<std::uint64_t>& asked);
  std::string text() const;  // "seed=7", "seed=81 (drawn)"

  std::uint64_t value;
  bool is_given;
};

}  // namespace penstock::ops
