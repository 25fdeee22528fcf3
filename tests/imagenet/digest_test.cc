#include "bench/imagenet/digest.h"

#include <gtest/gtest.h>
#include <penstock/sources.h>

#include <cstring>
#include <set>

namespace penstock::bench {
namespace {

using Bytes = std::vector<std::byte>;

struct Sample {
  Bytes values;
  std::int32_t label;
};

std::string digest_of(const std::vector<Sample>& samples) {
  Digest digest;
  for (const Sample& sample : samples) digest.add(sample.values, sample.label);
  return digest.text();
}

Bytes some_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 256);
  return bytes;
}

TEST(Digest, IsEqualForEqualSamplesOnly) {
  const Sample a{some_bytes(1000), 1}, b{some_bytes(999), 1}, c{some_bytes(1000), 2};
  EXPECT_EQ(digest_of({a, b}), digest_of({a, b}));
  const std::set<std::string> different{digest_of({a, b}), digest_of({b, a}), digest_of({a}),
                                        digest_of({c, b}), digest_of({}),     digest_of({a, b, a})};
  EXPECT_EQ(different.size(), 6U);
}

TEST(Digest, SeesEveryBit) {
  const Bytes bytes = some_bytes(150);
  std::set<std::string> seen{digest_of({{bytes, 0}})};
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes changed = bytes;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    seen.insert(digest_of({{changed, 0}}));
  }
  EXPECT_EQ(seen.size(), 8 * bytes.size() + 1);
}

// The sign bits of floats that lie in the same lane.
TEST(Digest, TwoFlippedHighBitsDoNotCancel) {
  const Bytes bytes = some_bytes(64 * 6);
  std::set<std::string> seen{digest_of({{bytes, 0}})};
  for (std::size_t other = 71; other < bytes.size(); other += 64) {
    Bytes changed = bytes;
    changed[7] ^= std::byte{0x80};
    changed[other] ^= std::byte{0x80};
    seen.insert(digest_of({{changed, 0}}));
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Digest, BatchBordersDoNotShow) {
  std::vector<imagenet::Example> examples(7);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    examples[i].image = Tensor(DType::u8, {5, 3, 3});
    std::memset(examples[i].image.data(), static_cast<int>(i), 45);
    examples[i].label = static_cast<std::int32_t>(10 * i);
  }
  const auto digest_in_batches = [&](std::int64_t size) {
    Digest digest;
    for (auto&& batch : from_vector(examples).batch(size)) digest.add(batch);
    return digest.text();
  };
  EXPECT_EQ(digest_in_batches(2), digest_in_batches(7));
  std::swap(examples[0], examples[1]);
  EXPECT_NE(digest_in_batches(2), digest_of({}));
}

}  // namespace
}  // namespace penstock::bench
