#include "bench/imagenet/digest.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace penstock::bench {
namespace {

// Independent of each other, so that their multiplications overlap.
constexpr std::size_t lanes = 8;
constexpr std::size_t word = sizeof(std::uint64_t);
using Lanes = std::array<std::uint64_t, lanes>;

__extension__ using Product = unsigned __int128;

// Both halves of a product: every bit of the input reaches the whole result, as in the hash
// functions of the "mum" family (V. Makarov).
std::uint64_t mix(std::uint64_t state, std::uint64_t value) {
  const Product product = Product{state ^ value} * 0x9E3779B97F4A7C15u;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

void mix_block(Lanes& state, const std::byte* block) {
  Lanes values;
  std::memcpy(values.data(), block, sizeof values);
  for (std::size_t i = 0; i < lanes; ++i) state[i] = mix(state[i], values[i]);
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  Lanes state{1, 2, 3, 4, 5, 6, 7, 8};
  std::uint64_t hash = bytes.size();
  for (; bytes.size() >= lanes * word; bytes = bytes.subspan(lanes * word)) mix_block(state, bytes.data());
  std::array<std::byte, lanes * word> rest{};
  std::copy(bytes.begin(), bytes.end(), rest.begin());
  mix_block(state, rest.data());
  for (const std::uint64_t lane : state) hash = mix(hash, lane);
  return hash;
}

}  // namespace

void Digest::add(std::span<const std::byte> values, std::int32_t label) {
  state_ = mix(state_, hash_of(values));
  state_ = mix(state_, static_cast<std::uint32_t>(label));
}

void Digest::add(const SampleBatch& batch) {
  const Tensor& images = batch.column<&imagenet::Example::image>();
  const auto& labels = batch.column<&imagenet::Example::label>();
  const std::size_t bytes = labels.empty() ? 0 : images.bytes() / labels.size();
  for (std::size_t i = 0; i < labels.size(); ++i) add({images.data() + i * bytes, bytes}, labels[i]);
}

std::string Digest::text() const {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(state_));
  return digits;
}

}  // namespace penstock::bench
