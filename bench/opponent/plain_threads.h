// The opponent of penstock-imagenet: workload `boxes` as an able programmer writes it with threads
// and nothing else. What it costs is what the work itself costs, so the difference is the price of
// the engine.
//
// It is strong on purpose (the same kernels, and no copy or allocation that can be avoided): each
// thread takes the next file of the list, reads JPEG and XML with one read(2) each into buffers
// that it keeps, decodes into a picture that it keeps, cuts each box into a sample buffer and
// copies that once into a row of a batch buffer that is used again and again. What it leaves out:
// order (samples come as they are ready), tuning, a memory budget, going on after an error.
#pragma once

#include <cstdint>

#include "bench/imagenet/options.h"
#include "bench/imagenet/pipeline.h"
#include "bench/imagenet/repetition.h"
#include "bench/opponent/batch_ring.h"

namespace penstock::bench {

class PlainThreads {
 public:
  // The options' data, size, batch, epochs, seed, boxes, dct and threads count. UsageError for a
  // workload other than boxes in f32 nhwc.
  PlainThreads(const ImagenetOptions& options, const Files& files);

  // All epochs. Throws what a thread has thrown, after all have ended.
  Measurement run();

 private:
  void consume(Measurement& result, std::int64_t begin_ns);

  const ImagenetOptions& options_;
  const Files& files_;
  image::Size size_;
  std::size_t threads_;
  BatchRing ring_;
};

}  // namespace penstock::bench
