// `full decode` (bench/imagenet/full_decode.h) over the files of a data set, as the unit of a run's figures.
#pragma once

#include <penstock/tensor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "bench/imagenet/full_decode.h"

namespace penstock::bench {

class Unit {
 public:
  // Reads the files: all of them, or every k-th one of a larger set, so that at most `most_bytes`
  // are held, and decodes one. Files that cannot be read are left out.
  explicit Unit(const std::vector<std::string>& paths, std::size_t most_bytes = std::size_t{512} << 20);

  // Decodes all files, a small set several times over; images per second of this thread's CPU time. Files that cannot
  // be decoded cost time and do not count.
  double images_per_s();

 private:
  std::size_t decode_all();  // how many could be

  FullDecode full_decode_;  // kept, as the unit reuses its output buffer
  std::vector<Tensor> files_;
};

}  // namespace penstock::bench
