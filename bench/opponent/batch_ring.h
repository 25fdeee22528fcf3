// The hand-over of a program that works with plain threads: a few batch buffers that go round
// between the workers, who fill them row by row, and the consumer, who takes them whole.
//
// Memory is taken once. Rows are given out in the order of asking, so batches fill one after the
// other; which sample gets which row depends on the threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace penstock::bench {

class BatchRing {
 public:
  BatchRing(std::size_t buffers, std::int64_t rows, std::size_t row_values);

  // A row of a batch; labels lie beside the values.
  struct Row {
    std::int64_t batch;
    std::span<float> values;
    std::int32_t* label;
  };

  // Workers: the next free row, waiting for the consumer if all buffers are full.
  Row claim();
  void commit(const Row& row);

  // Once, after the last commit: what is there goes out as a smaller batch.
  void close();

  // Consumer: waits for the next batch; how many rows it has, 0 at the end. release() gives its buffer back.
  std::int64_t next();
  void release();

  // For another round, when nobody uses it.
  void reset();

 private:
  struct Buffer {
    std::vector<float> values;
    std::vector<std::int32_t> labels;
    std::int64_t committed = 0;
  };
  Buffer& buffer_of(std::int64_t batch) { return buffers_[static_cast<std::size_t>(batch) % buffers_.size()]; }

  const std::int64_t rows_;
  const std::size_t row_values_;
  std::vector<Buffer> buffers_;
  std::mutex mutex_;  // all below, and Buffer::committed
  std::condition_variable filled_, freed_;
  std::int64_t claimed_ = 0;  // rows
  std::int64_t taken_ = 0;    // batches that the consumer has released
  bool closed_ = false;
};

}  // namespace penstock::bench
