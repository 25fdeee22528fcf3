// `full decode` (bench/full_decode.h) over the files of a data set, as the unit of a run's figures.
#pragma once

#include <penstock/tensor.h>

#include <cstddef>
#include <string>
#include <vector>

namespace penstock::bench {

class Unit {
 public:
  // Reads the files: all of them, or every k-th one of a larger set, so that at most `most_bytes`
  // are held. Files that cannot be read are left out.
  explicit Unit(const std::vector<std::string>& paths, std::size_t most_bytes = std::size_t{512} << 20);

  // Decodes all files once; images per second of this thread's CPU time. Files that cannot be
  // decoded cost time and do not count.
  double images_per_s() const;

 private:
  std::vector<Tensor> files_;
};

}  // namespace penstock::bench
