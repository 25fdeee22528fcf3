#include <penstock/error.h>
#include <penstock/shape.h>

#include <utility>

#include "lib/base/fail_argument.h"

namespace penstock {

void Shape::resize(std::size_t rank) {
  if (rank > inline_rank && rank > size_) {
    auto larger = std::make_unique<std::int64_t[]>(rank);
    std::copy(begin(), end(), larger.get());
    larger_ = std::move(larger);
  } else if (rank > size_) {
    std::fill_n(end(), rank - size_, 0);
  }
  size_ = rank;
}

Shape::iterator Shape::insert(const_iterator before, std::int64_t dimension) {
  const std::ptrdiff_t place = before - begin();
  resize(size_ + 1);
  std::copy_backward(begin() + place, end() - 1, end());
  begin()[place] = dimension;
  return begin() + place;
}

Shape::iterator Shape::erase(const_iterator at) noexcept {
  const auto place = begin() + (at - begin());
  std::copy(place + 1, end(), place);
  --size_;
  return place;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::int64_t element_count(const Shape& shape) {
  const auto negative = [](std::int64_t n) { return n < 0; };
  if (std::any_of(shape.begin(), shape.end(), negative))
    fail_argument("negative dimension in shape " + to_string(shape) + "; dimensions are 0 or more");
  // A zero anywhere makes the product 0, even where the other dimensions alone would overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t n : shape)
    if (__builtin_mul_overflow(count, n, &count))
      fail_argument("shape " + to_string(shape) + " has more than 2^63 - 1 elements");
  return count;
}

}  // namespace penstock
