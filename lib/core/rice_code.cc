#include "lib/core/rice_code.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace penstock {
namespace {

constexpr unsigned kMostBits = 62;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;

// Such that half of the numbers have an upper part of 0, if they are distributed as ages are.
unsigned bits_for(std::span<const std::int64_t> numbers) {
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  constexpr double kLogOf2 = 0.69;
  const double middle = kLogOf2 * sum / static_cast<double>(std::max<std::size_t>(numbers.size(), 1));
  return middle < 2 ? 0 : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(middle)) - 1);
}

class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}
  void add(bool bit) {
    if (filled_ == 0) bytes_.push_back(0);
    if (bit) bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | 1u << filled_);
    filled_ = (filled_ + 1) % 8;
  }

 private:
  std::string& bytes_;
  unsigned filled_ = 0;  // bits of the last byte
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool is_at_end() const { return at_ == 8 * bytes_.size(); }
  // Not at the end.
  bool next() {
    const auto byte = static_cast<unsigned char>(bytes_[at_ / 8]);
    return (byte >> (at_++ % 8) & 1u) != 0;
  }
  std::size_t bytes_read() const { return (at_ + 7) / 8; }

  std::optional<std::uint64_t> number(unsigned bits) {
    std::uint64_t upper = 0;
    for (;; ++upper) {
      if (is_at_end()) return std::nullopt;
      if (!next()) break;
    }
    if (upper > kLargest >> bits) return std::nullopt;
    std::uint64_t lower = 0;
    for (unsigned bit = 0; bit < bits; ++bit) {
      if (is_at_end()) return std::nullopt;
      lower |= std::uint64_t{next()} << bit;
    }
    return (upper << bits) + lower;
  }

 private:
  const std::string_view bytes_;
  std::size_t at_ = 0;  // bits
};

}  // namespace

void append_rice_coded(std::string& bytes, std::span<const std::int64_t> numbers) {
  const unsigned bits = bits_for(numbers);
  bytes.push_back(static_cast<char>(bits));
  Writer out(bytes);
  for (const std::int64_t number : numbers) {
    const auto value = static_cast<std::uint64_t>(number);
    for (std::uint64_t upper = value >> bits; upper > 0; --upper) out.add(true);
    out.add(false);
    for (unsigned bit = 0; bit < bits; ++bit) out.add((value >> bit & 1u) != 0);
  }
}

std::optional<std::vector<std::int64_t>> take_rice_coded(std::string_view& bytes, std::size_t count) {
  if (bytes.empty() || static_cast<unsigned char>(bytes.front()) > kMostBits) return std::nullopt;
  const auto bits = static_cast<unsigned>(bytes.front());
  Reader in(bytes.substr(1));
  std::vector<std::int64_t> numbers;
  for (; count > 0; --count) {
    const auto number = in.number(bits);
    if (!number || *number > kLargest) return std::nullopt;
    numbers.push_back(static_cast<std::int64_t>(*number));
  }
  bytes.remove_prefix(1 + in.bytes_read());
  return numbers;
}

}  // namespace penstock
