#include "bench/opponent/batch_ring.h"

#include <algorithm>

namespace penstock::bench {

BatchRing::BatchRing(std::size_t buffers, std::int64_t rows, std::size_t row_values)
    : rows_(rows), row_values_(row_values), buffers_(buffers) {
  for (Buffer& buffer : buffers_) {
    buffer.values.resize(static_cast<std::size_t>(rows) * row_values);
    buffer.labels.resize(static_cast<std::size_t>(rows));
  }
}

BatchRing::Row BatchRing::claim() {
  std::unique_lock lock(mutex_);
  const std::int64_t number = claimed_++;
  const std::int64_t batch = number / rows_;
  freed_.wait(lock, [&] { return batch < taken_ + static_cast<std::int64_t>(buffers_.size()); });
  Buffer& buffer = buffer_of(batch);
  const auto row = static_cast<std::size_t>(number % rows_);
  return {batch, std::span(buffer.values).subspan(row * row_values_, row_values_), &buffer.labels[row]};
}

void BatchRing::commit(const Row& row) {
  const std::scoped_lock lock(mutex_);
  if (++buffer_of(row.batch).committed == rows_) filled_.notify_one();
}

void BatchRing::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  filled_.notify_one();
}

std::int64_t BatchRing::next() {
  std::unique_lock lock(mutex_);
  const Buffer& buffer = buffer_of(taken_);
  filled_.wait(lock, [&] { return closed_ || buffer.committed == rows_; });
  return std::clamp<std::int64_t>(claimed_ - taken_ * rows_, 0, rows_);
}

void BatchRing::release() {
  const std::scoped_lock lock(mutex_);
  buffer_of(taken_).committed = 0;
  ++taken_;
  freed_.notify_all();
}

void BatchRing::reset() {
  const std::scoped_lock lock(mutex_);
  for (Buffer& buffer : buffers_) buffer.committed = 0;
  claimed_ = taken_ = 0;
  closed_ = false;
}

}  // namespace penstock::bench
