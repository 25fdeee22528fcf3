// Shape: the dimensions of a tensor.
//
// Up to 6 dimensions live inside it: a pipeline makes, copies and drops shapes with every element, and none of that
// goes to the heap. More dimensions than that do. Const members may be called from any number of threads.
//
// Of std::vector<std::int64_t> it has what shapes need: size, empty, data, begin, end, [], front, back, resize, clear,
// push_back, insert and erase of one dimension, ==. The rest (at, assign, reserve, rbegin, <, ...) it has not. A vector
// becomes a Shape by itself, a Shape becomes a vector where you say so.
//
//   ps::Shape shape{375, 500, 3};
//   shape.insert(shape.begin(), 128);
//   std::vector<std::int64_t>(shape)  ->  [128, 375, 500, 3]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {

class Shape {
 public:
  using value_type = std::int64_t;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = std::int64_t&;
  using const_reference = const std::int64_t&;
  using iterator = std::int64_t*;
  using const_iterator = const std::int64_t*;

  static constexpr std::size_t inline_rank = 6;  // dimensions that need no memory of their own

  // Rank 0: a scalar's shape.
  Shape() noexcept = default;
  Shape(std::initializer_list<std::int64_t> dimensions) { assign(dimensions); }
  Shape(const std::vector<std::int64_t>& dimensions) { assign(dimensions); }
  template <std::forward_iterator Iterator> Shape(Iterator first, Iterator last) {
    resize(static_cast<std::size_t>(std::distance(first, last)));
    std::copy(first, last, begin());
  }

  Shape(const Shape& other) { assign(other); }
  Shape& operator=(const Shape& other) {
    if (this != &other) assign(other);
    return *this;
  }
  // The shape that is moved from has rank 0 then.
  Shape(Shape&& other) noexcept { steal(other); }
  Shape& operator=(Shape&& other) noexcept {
    if (this != &other) steal(other);
    return *this;
  }
  ~Shape() = default;

  explicit operator std::vector<std::int64_t>() const { return {begin(), end()}; }

  std::size_t size() const noexcept { return size_; }  // the rank
  bool empty() const noexcept { return size_ == 0; }

  std::int64_t* data() noexcept { return larger_ ? larger_.get() : inline_; }
  const std::int64_t* data() const noexcept { return larger_ ? larger_.get() : inline_; }
  iterator begin() noexcept { return data(); }
  iterator end() noexcept { return data() + size_; }
  const_iterator begin() const noexcept { return data(); }
  const_iterator end() const noexcept { return data() + size_; }

  // Of these, the place must exist.
  std::int64_t& operator[](std::size_t i) noexcept { return data()[i]; }
  const std::int64_t& operator[](std::size_t i) const noexcept { return data()[i]; }
  std::int64_t& front() noexcept { return data()[0]; }
  const std::int64_t& front() const noexcept { return data()[0]; }
  std::int64_t& back() noexcept { return data()[size_ - 1]; }
  const std::int64_t& back() const noexcept { return data()[size_ - 1]; }

  // Each costs O(rank) and invalidates iterators. New dimensions of resize() are 0.
  void resize(std::size_t rank);
  void clear() noexcept { size_ = 0; }
  void push_back(std::int64_t dimension) { insert(end(), dimension); }
  iterator insert(const_iterator before, std::int64_t dimension);
  iterator erase(const_iterator at) noexcept;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void assign(std::span<const std::int64_t> dimensions) {
    resize(dimensions.size());
    std::copy(dimensions.begin(), dimensions.end(), begin());
  }
  void steal(Shape& other) noexcept {
    std::copy_n(other.inline_, inline_rank, inline_);
    larger_ = std::move(other.larger_);
    size_ = std::exchange(other.size_, 0);
  }

  std::size_t size_ = 0;
  std::int64_t inline_[inline_rank] = {};
  // set if it has ever had more dimensions than fit inside; then it holds them all
  std::unique_ptr<std::int64_t[]> larger_;
};

std::string to_string(const Shape& shape);       // "[2, 3]"
std::int64_t element_count(const Shape& shape);  // product of the dimensions; 1 for rank 0. Error on overflow

}  // namespace penstock

#pragma GCC visibility pop
