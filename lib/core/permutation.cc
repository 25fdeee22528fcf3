#include "lib/core/permutation.h"

#include <penstock/error.h>
#include <penstock/random.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace penstock {
namespace {

// Both halves of a 128-bit product folded together, as in wyhash: every bit of the result depends
// on all of x.
std::uint64_t fold(std::uint64_t x, std::uint64_t y) noexcept {
  const detail::uint128 product = detail::uint128{x} * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// One word is the stream's own key and the other its start counter, so no two keys share a stream.
CounterRng stream_of(const PermutationKey& key) noexcept {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  return {{low(key[0]), high(key[0])}, {0, 0, low(key[1]), high(key[1])}};
}

}  // namespace

KeyedPermutation::KeyedPermutation(std::uint64_t n, const PermutationKey& key) : n_(n) {
  if (n > most_positions)
    throw Error(ErrorCode::invalid_argument, "cannot permute " + std::to_string(n) + " positions");
  CounterRng rng = stream_of(key);
  if (n <= table_size)
    make_table(rng);
  else
    make_network(rng);
}

void KeyedPermutation::make_table(CounterRng& rng) {
  for (std::size_t i = 0; i < n_; ++i) table_[i] = static_cast<std::uint8_t>(i);
  for (std::size_t left = n_; left > 1; --left) std::swap(table_[left - 1], table_[rng.uniform(std::size_t{0}, left)]);
}

void KeyedPermutation::make_network(CounterRng& rng) {
  const auto bits = static_cast<unsigned>(std::bit_width(n_ - 1));
  right_bits_ = bits / 2;
  right_mask_ = (std::uint64_t{1} << right_bits_) - 1;
  left_mask_ = (std::uint64_t{1} << (bits - right_bits_)) - 1;
  for (RoundKey& round : keys_) {
    round.add = rng.next_u64();
    round.multiply = rng.next_u64() | 1;
  }
  const bool is_odd = rng.next_u64() & 1;
  const std::uint64_t first = rng.uniform(std::uint64_t{0}, n_);
  const std::uint64_t apart = rng.uniform(std::uint64_t{1}, n_);
  exchanged_ = {first, is_odd ? (first + apart) % n_ : first};
}

// The halves are updated in turn instead of being swapped, so they may differ in width by one bit.
std::uint64_t KeyedPermutation::walk(std::uint64_t x) const noexcept {
  std::uint64_t left = x >> right_bits_;
  std::uint64_t right = x & right_mask_;
  for (std::size_t i = 0; i < rounds; i += 2) {
    left ^= fold(right ^ keys_[i].add, keys_[i].multiply) & left_mask_;
    right ^= fold(left ^ keys_[i + 1].add, keys_[i + 1].multiply) & right_mask_;
  }
  return left << right_bits_ | right;
}

std::uint64_t KeyedPermutation::walk_back(std::uint64_t x) const noexcept {
  std::uint64_t left = x >> right_bits_;
  std::uint64_t right = x & right_mask_;
  for (std::size_t i = rounds; i > 0; i -= 2) {
    right ^= fold(left ^ keys_[i - 1].add, keys_[i - 1].multiply) & right_mask_;
    left ^= fold(right ^ keys_[i - 2].add, keys_[i - 2].multiply) & left_mask_;
  }
  return left << right_bits_ | right;
}

std::uint64_t KeyedPermutation::exchange(std::uint64_t i) const noexcept {
  if (i == exchanged_[0]) return exchanged_[1];
  return i == exchanged_[1] ? exchanged_[0] : i;
}

std::uint64_t KeyedPermutation::operator()(std::uint64_t i) const noexcept {
  if (n_ <= table_size) return table_[i];
  // Walking ends: the network's cycle through i comes back to i, which is inside.
  std::uint64_t x = walk(exchange(i));
  while (x >= n_) x = walk(x);
  return x;
}

std::uint64_t KeyedPermutation::inverse(std::uint64_t x) const noexcept {
  if (n_ <= table_size)
    return static_cast<std::uint64_t>(std::find(table_.begin(), table_.begin() + n_, x) - table_.begin());
  std::uint64_t i = walk_back(x);
  while (i >= n_) i = walk_back(i);
  return exchange(i);
}

}  // namespace penstock
