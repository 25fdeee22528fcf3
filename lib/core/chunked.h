// Chunked: a list that only grows and shrinks at its end. It has memory for what it holds and one chunk more: a vector
// that doubles has up to three times as much while it moves to a larger place, and keeps it when it has become small
// again.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace penstock {

template <class T> class Chunked {
 public:
  bool empty() const noexcept { return chunks_.empty(); }
  std::size_t size() const noexcept { return empty() ? 0 : (chunks_.size() - 1) * kChunk + chunks_.back().size(); }

  T& operator[](std::size_t i) noexcept { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](std::size_t i) const noexcept { return chunks_[i / kChunk][i % kChunk]; }
  T& back() noexcept { return chunks_.back().back(); }

  // Throws std::bad_alloc, and is then as it was.
  void push_back(T value) {
    if (empty() || chunks_.back().size() == kChunk) add_chunk();
    chunks_.back().push_back(std::move(value));
  }
  void pop_back() noexcept {
    chunks_.back().pop_back();
    if (chunks_.back().empty()) chunks_.pop_back();
  }
  void clear() noexcept { chunks_.clear(); }

 private:
  static constexpr std::size_t kChunk = 1024;

  // The first one grows as vectors do: most lists are short.
  void add_chunk() {
    std::vector<T> chunk;
    chunk.reserve(empty() ? 1 : kChunk);
    chunks_.push_back(std::move(chunk));
  }

  std::vector<std::vector<T>> chunks_;  // all but the last are full; none is empty
};

}  // namespace penstock
