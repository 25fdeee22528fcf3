// Random numbers that depend on a key and a position alone.
//
// A counter-based generator computes number i directly from (key, i): there is no state to share,
// to seed per thread or to warm up. So an element's numbers are the same whatever thread handles
// it, in whatever order, on any number of ranks, on any machine. Philox4x32-10 of J. Salmon, M.
// Moraes, R. Dror, D. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11; it passes
// BigCrush. Not for cryptography.
//
//   auto crops = pictures.map([](const ps::Tensor& image, ps::Context& context) {
//     ps::CounterRng rng = context.rng();
//     return crop(image, rng.uniform(0, 33), rng.uniform(0, 33), rng.uniform() < 0.5);
//   });
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#pragma GCC visibility push(default)

namespace penstock {

using PhiloxKey = std::array<std::uint32_t, 2>;
using PhiloxCounter = std::array<std::uint32_t, 4>;

namespace detail {

constexpr PhiloxCounter philox_round(const PhiloxCounter& c, const PhiloxKey& k) noexcept {
  const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0];
  const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c[2];
  return {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
}

[[noreturn]] void throw_empty_range();

__extension__ using uint128 = unsigned __int128;

}  // namespace detail

// Four random words: a bijection of the counter for each key, so different counters never give the
// same four. ~10 ns.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) noexcept {
  for (int round = 0; round < 10; ++round) {
    counter = detail::philox_round(counter, key);
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// A bijection of 64 bits in which each bit of the input changes every bit of the result with
// probability near 1/2: the output function of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA
// 2014, with D. Stafford's variant 13).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// The stream of numbers that belongs to one key and start counter; satisfies
// std::uniform_random_bit_generator.
//
// It gives word 0 to 3 of philox4x32(start), then of philox4x32(start + 1), and so on; nothing is
// computed before the first draw. The stream repeats after 2^66 words. A copy continues on its own.
// Not thread-safe; each thread can have its own generator. All members give the same values on all
// platforms and never change between releases.
class CounterRng {
 public:
  using result_type = std::uint32_t;

  // Key 0, counter 0.
  constexpr CounterRng() noexcept = default;

  // TensorFlow's generator of shuffle(seed, seed2) is key = {seed low, seed high}, start = {0, 0,
  // seed2 low, seed2 high}.
  constexpr CounterRng(PhiloxKey key, PhiloxCounter start) noexcept : start_(start), key_(key) {}

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }
  constexpr result_type operator()() noexcept { return next_u32(); }

  constexpr std::uint32_t next_u32() noexcept {
    if (drawn_ % 4 == 0) fill();
    return block_[drawn_++ % 4];
  }

  // Two draws, the first one in the low half.
  constexpr std::uint64_t next_u64() noexcept {
    const std::uint64_t low = next_u32();
    return low | std::uint64_t{next_u32()} << 32;
  }

  // Uniform in [0, 1): a multiple of 2^-53. Two draws.
  constexpr double uniform() noexcept { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

  // Uniform integer in [lo, hi), without bias. Error(invalid_argument) if lo >= hi. One draw where
  // hi - lo <= 2^32, else two; more with probability (hi - lo) / 2^32 or (hi - lo) / 2^64.
  template <std::integral I> constexpr I uniform(I lo, I hi) {
    if (lo >= hi) detail::throw_empty_range();
    const auto range = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
    return static_cast<I>(static_cast<std::uint64_t>(lo) + below(range));
  }

  // Uniform in [lo, hi). Error(invalid_argument) unless lo < hi. Two draws.
  template <std::floating_point F> F uniform(F lo, F hi) {
    if (!(lo < hi)) detail::throw_empty_range();
    const F value = static_cast<F>(lo + (hi - lo) * uniform());
    return value < hi ? value : std::nextafter(hi, lo);  // the sum may have been rounded up to hi
  }

  // How many words were drawn or skipped so far, and a way to get there again in O(1): for
  // checkpoints.
  constexpr std::uint64_t position() const noexcept { return drawn_; }
  constexpr void discard(std::uint64_t words) noexcept {
    drawn_ += words;
    if (drawn_ % 4 != 0) fill();
  }

 private:
  constexpr void fill() noexcept {
    const std::uint64_t low = std::uint64_t{start_[0]} | std::uint64_t{start_[1]} << 32;
    const std::uint64_t high = std::uint64_t{start_[2]} | std::uint64_t{start_[3]} << 32;
    const std::uint64_t sum = low + drawn_ / 4;
    const std::uint64_t top = high + (sum < low ? 1 : 0);
    block_ = philox4x32({static_cast<std::uint32_t>(sum), static_cast<std::uint32_t>(sum >> 32),
                         static_cast<std::uint32_t>(top), static_cast<std::uint32_t>(top >> 32)},
                        key_);
  }

  // D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29(1), 2019: the high
  // half of draw * range, after rejecting the (2^L mod range) low halves that would come up once
  // too often.
  constexpr std::uint64_t below(std::uint64_t range) noexcept {
    constexpr std::uint64_t words = std::uint64_t{1} << 32;
    if (range > words) return below_wide(range);
    std::uint64_t product = next_u32() * range;
    if (product % words >= range) return product / words;
    const std::uint64_t rejected = (words - range) % range;
    while (product % words < rejected) product = next_u32() * range;
    return product / words;
  }
  constexpr std::uint64_t below_wide(std::uint64_t range) noexcept {
    detail::uint128 product = detail::uint128{next_u64()} * range;
    if (static_cast<std::uint64_t>(product) < range) {
      const std::uint64_t rejected = (0 - range) % range;
      while (static_cast<std::uint64_t>(product) < rejected) product = detail::uint128{next_u64()} * range;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  PhiloxCounter start_{};
  PhiloxCounter block_{};
  std::uint64_t drawn_ = 0;
  PhiloxKey key_{};
};

// The generator of one element: what Context::rng() returns.
//
// The ordinal is the upper half of the counter as it is; seed, epoch with pass, and sub are mixed
// into the key by key = mix64(mix64(mix64(seed) ^ (epoch << 32 | pass)) ^ sub). So within a pass of
// an epoch no two (ordinal, sub) share any stretch of their streams, and changing any one argument
// always changes the stream. ~5 ns.
constexpr CounterRng make_rng(std::uint64_t seed, std::uint32_t epoch, std::uint32_t pass, std::int64_t ordinal,
                              std::uint64_t sub = 0) noexcept {
  const std::uint64_t when = std::uint64_t{epoch} << 32 | pass;
  const std::uint64_t key = mix64(mix64(mix64(seed) ^ when) ^ sub);
  const auto which = static_cast<std::uint64_t>(ordinal);
  return {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)},
          {0, 0, static_cast<std::uint32_t>(which), static_cast<std::uint32_t>(which >> 32)}};
}

}  // namespace penstock

#pragma GCC visibility pop
