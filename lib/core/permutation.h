// KeyedPermutation: a shuffled order of n positions that needs no memory.
//
//   KeyedPermutation order(1'281'167, {seed, std::uint64_t{epoch} << 32 | pass});
//   for (std::uint64_t i = 0; i < order.size(); ++i) read(files[order(i)]);
//
// A Feistel network over the next power of two, with cycle walking: a result outside [0, n) is put
// through the network again until it falls inside (J. Black, P. Rogaway, "Ciphers with Arbitrary
// Finite Domains", CT-RSA 2002). It is a bijection for every key, whatever the round function is.
// Fewer than two walks are expected. Networks over a handful of positions are visibly uneven in the
// orders that they reach, so up to 64 positions are shuffled by Fisher and Yates into a table
// instead: there each of the n! orders has the same probability.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock {

class CounterRng;

// Two words that together choose the order. Every bit counts: different keys give unrelated orders.
using PermutationKey = std::array<std::uint64_t, 2>;

// Immutable, so const calls from any number of threads are safe. Construction 0.1 to 2 us, a call
// 20 to 50 ns; 440 bytes. The order for a given (n, key) does not depend on the machine.
class KeyedPermutation {
 public:
  static constexpr std::uint64_t most_positions = std::uint64_t{1} << 62;

  // n <= most_positions, else Error(invalid_argument); n = 0 and n = 1 are allowed.
  KeyedPermutation(std::uint64_t n, const PermutationKey& key);

  std::uint64_t size() const noexcept { return n_; }

  // Where position i goes; needs i < size().
  std::uint64_t operator()(std::uint64_t i) const noexcept;

  // The position that goes to x; needs x < size(). Costs as much, or a search through a table of at most 256.
  std::uint64_t inverse(std::uint64_t x) const noexcept;

 private:
  static constexpr std::size_t table_size = 256;
  static constexpr std::size_t rounds = 8;
  struct RoundKey {
    std::uint64_t add = 0;
    std::uint64_t multiply = 0;
  };

  void make_table(CounterRng& rng);
  void make_network(CounterRng& rng);
  std::uint64_t walk(std::uint64_t x) const noexcept;
  std::uint64_t walk_back(std::uint64_t x) const noexcept;
  std::uint64_t exchange(std::uint64_t i) const noexcept;

  std::uint64_t n_;
  // Used where n_ <= table_size, the rest where it is larger.
  std::array<std::uint8_t, table_size> table_{};
  unsigned right_bits_ = 0;
  std::uint64_t left_mask_ = 0;
  std::uint64_t right_mask_ = 0;
  std::array<RoundKey, rounds> keys_;
  std::array<std::uint64_t, 2> exchanged_{};  // these two positions; equal: none are
};

}  // namespace penstock
