// MostlyAlike: a list of what is the same for all elements most often. Then it takes no memory for each; from the first
// one on that differs from those before, each has its own.
#pragma once

#include <cstddef>
#include <utility>

#include "lib/core/chunked.h"

namespace penstock {

template <class T> class MostlyAlike {
 public:
  // `size`: how many there are already. Throws std::bad_alloc, and then holds what it held.
  void push_back(const T& value, std::size_t size) {
    if (size == 0) common_ = value;
    if (each_.empty() && value == common_) return;
    try {
      while (each_.size() < size) each_.push_back(common_);
      each_.push_back(value);
    } catch (...) {
      if (each_.size() < size) each_.clear();
      throw;
    }
  }
  void swap(std::size_t i, std::size_t j) noexcept {
    if (!each_.empty()) std::swap(each_[i], each_[j]);
  }
  const T& back() noexcept { return each_.empty() ? common_ : each_.back(); }
  void shorten(std::size_t size) noexcept {
    while (each_.size() > size) each_.pop_back();
  }
  void clear() noexcept { each_.clear(); }
  std::size_t bytes() const noexcept { return each_.size() * sizeof(T); }

 private:
  Chunked<T> each_;  // of each; empty while all are common_
  T common_{};
};

}  // namespace penstock
