// What one element has become, where that is several. Nothing here is meant to be called by users.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/bytes.h>
#include <penstock/detail/pooled.h>
#include <penstock/element.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// The engine takes them out some at a time, for each needs a slot of its own then. Used by one thread at a time.
class Results {
 public:
  virtual ~Results() = default;
  virtual std::size_t size() const noexcept = 0;  // of all, taken or not
  virtual Element take(std::size_t i) = 0;        // each once; throws what moving a value throws
  virtual std::size_t bytes()
      const = 0;  // of the list and of all that it holds, before anything is taken; throws what bytes_of throws
  virtual std::size_t bytes_of_list()
      const noexcept = 0;  // of these, the list's own: they stay until it ends, whatever has been taken
  virtual bool bytes_are_known() const noexcept = 0;  // bytes() is more than the values' own sizes; as Element's

  static void* operator new(std::size_t bytes) { return take_pooled(bytes); }
  static void operator delete(void* at, std::size_t bytes) noexcept { give_back_pooled(at, bytes); }
};

// Of a function that gives a list of values.
template <class T> class ListResults final : public Results {
 public:
  explicit ListResults(std::vector<T> values) noexcept : values_(std::move(values)) {}
  ~ListResults() override {
    if constexpr (!std::is_same_v<T, bool>) {
      values_.clear();
      give_back_pages(values_.data(), values_.capacity() * sizeof(T));
    }
  }
  std::size_t size() const noexcept override { return values_.size(); }
  Element take(std::size_t i) override { return Element(T(std::move(values_[i]))); }  // a T, also of vector<bool>
  std::size_t bytes() const override { return bytes_of(values_); }
  std::size_t bytes_of_list() const noexcept override {
    return values_.capacity() * sizeof(T) / (std::is_same_v<T, bool> ? 8 : 1);
  }
  bool bytes_are_known() const noexcept override { return bytes_known<T>; }

 private:
  std::vector<T> values_;
};

// Of an op that has put its results into elements itself.
template <> class ListResults<Element> final : public Results {
 public:
  explicit ListResults(std::vector<Element> values) noexcept : values_(std::move(values)) {}
  std::size_t size() const noexcept override { return values_.size(); }
  Element take(std::size_t i) override { return std::move(values_[i]); }
  std::size_t bytes_of_list() const noexcept override { return values_.capacity() * sizeof(Element); }
  std::size_t bytes() const override {
    std::size_t sum = bytes_of_list();
    for (const Element& value : values_) sum += value.bytes();
    return sum;
  }
  bool bytes_are_known() const noexcept override { return std::ranges::all_of(values_, &Element::bytes_are_known); }

 private:
  std::vector<Element> values_;
};

}  // namespace penstock::detail

#pragma GCC visibility pop
