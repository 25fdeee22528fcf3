// The unit of all ratios, `full decode`: JPEG in memory -> interleaved RGB, accurate transform,
// fancy upsampling, libjpeg API, one decompressor and one output buffer reused, one thread
// (images.md of the project's design).
#pragma once

#include <penstock/tensor.h>

#include <cstddef>
#include <string>
#include <vector>

namespace penstock::bench {

class FullDecode {
 public:
  // Reads the files: all of them, or every k-th one of a larger set, so that at most `most_bytes`
  // are held. Files that cannot be read are left out.
  explicit FullDecode(const std::vector<std::string>& paths,
                      std::size_t most_bytes = std::size_t{512} << 20);

  // Decodes all files once; images per second of this thread's CPU time. Files that cannot be
  // decoded cost time and do not count.
  double images_per_s() const;

 private:
  std::vector<Tensor> files_;
};

}  // namespace penstock::bench
