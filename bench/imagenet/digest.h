// A fingerprint of a stream of samples: equal for two runs that delivered the same values in the same order.
//
// 64 bits, not for cryptography. Batch borders do not show, so runs with another batch size can be
// compared. 50 us for a sample of 768 KiB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/imagenet/pipeline.h"

namespace penstock::bench {

class Digest {
 public:
  // A sample's values and its label.
  void add(std::span<const std::byte> values, std::int32_t label);

  // All samples of a batch.
  void add(const SampleBatch& batch);

  std::string text() const;  // 16 hexadecimal digits

 private:
  std::uint64_t state_ = 0;
};

}  // namespace penstock::bench
