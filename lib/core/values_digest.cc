#include <penstock/detail/values_digest.h>

#include <array>
#include <cstdio>

#include <penstock/random.h>

#include "lib/core/crc32.h"

namespace penstock::detail {
namespace {

std::uint64_t with(std::uint64_t digest, std::string_view bytes) {
  return mix64(mix64(digest + crc32(bytes)) + bytes.size());
}

std::string text_of(std::uint64_t digest) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest));
  return text.data();
}

}  // namespace

std::string digest_of(std::span<const std::string> values, std::string_view without) {
  std::uint64_t digest = 0;
  for (const std::string_view value : values)
    digest = with(digest, value.starts_with(without) ? value.substr(without.size()) : value);
  return text_of(digest);
}

std::string digest_of_bytes(std::string_view bytes) { return text_of(with(0, bytes)); }

}  // namespace penstock::detail
