// SHA-256, for comparing results with the hashes of golden files. FIPS 180-4 (August 2015), section 6.2.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace penstock::test {

// The digest in 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);

template <class Value> std::string sha256_of(std::span<const Value> values) { return sha256(std::as_bytes(values)); }

}  // namespace penstock::test
