#include <penstock/detail/values_digest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include <penstock/random.h>

namespace penstock::detail {
namespace {

std::uint64_t with(std::uint64_t digest, std::string_view bytes) {
  digest = mix64(digest + bytes.size());
  for (std::uint64_t word = 0; !bytes.empty(); word = 0) {
    const std::size_t size = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), size);
    bytes.remove_prefix(size);
    digest = mix64(digest ^ word);
  }
  return digest;
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
