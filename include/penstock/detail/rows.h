// Rows of numbers in whatever they come, as tensors: what padded and ragged batches are made of. Nothing here is meant
// to be called by users.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// A row where it lies.
struct RowView {
  DType type;
  Shape shape;
  const std::byte* data;
  std::size_t bytes;
};
using RowCopied = std::function<void(std::size_t)>;  // is told the row's number

struct RowOfTensor {
  using Owner = Tensor;
  static Owner owner_of(Tensor row) { return row; }
  static RowView view_of(const Owner& row) { return {row.dtype(), row.shape(), row.data(), row.bytes()}; }
};

// A std::vector of numbers is a tensor [length], one of std::arrays of N numbers a tensor [length, N].
template <class T> struct RowOfNumbers { static constexpr bool exists = false; };

template <class Value> struct NumbersIn {};
template <ColumnValue V> struct NumbersIn<V> {
  using Number = std::conditional_t<std::is_same_v<V, bool>, std::uint8_t, V>;
  static Shape shape_of(std::int64_t length) { return {length}; }
};
template <ColumnValue V, std::size_t N>
requires(!std::is_same_v<V, bool>) struct NumbersIn<std::array<V, N>> {
  using Number = V;
  static Shape shape_of(std::int64_t length) { return {length, static_cast<std::int64_t>(N)}; }
};

template <class Value>
requires requires { typename NumbersIn<Value>::Number; }
struct RowOfNumbers<std::vector<Value>> {
  static constexpr bool exists = true;
  static constexpr DType type = DTypeOf<typename NumbersIn<Value>::Number>::type;
  static Shape shape_of(const std::vector<Value>& row) {
    return NumbersIn<Value>::shape_of(static_cast<std::int64_t>(row.size()));
  }
  static std::size_t rank() { return NumbersIn<Value>::shape_of(0).size(); }

  // The vector itself; of bools, which lie there as bits, a copy.
  using Owner = std::vector<std::conditional_t<std::is_same_v<Value, bool>, std::uint8_t, Value>>;
  static Owner owner_of(std::vector<Value> row) {
    if constexpr (std::is_same_v<Value, bool>) {
      return Owner(row.begin(), row.end());
    } else {
      return row;
    }
  }
  static RowView view_of(const Owner& row) {
    return {type, RowOfNumbers<Owner>::shape_of(row), reinterpret_cast<const std::byte*>(row.data()),
            row.size() * sizeof(typename Owner::value_type)};
  }
};

template <class T>
concept NumberRow = RowOfNumbers<T>::exists;

// A Collate's Builder but for its check(): rows lie where they are until Rows puts them together. Row says how:
// RowOfTensor or RowOfNumbers<T>.
template <class Row, class Rows> class RowsBuilder {
 public:
  template <class... Settings>
  explicit RowsBuilder(std::size_t capacity, const Settings&... settings) : rows_(capacity, settings...) {
    owners_.reserve(std::min<std::size_t>(capacity, 1024));
  }
  void add(auto row) { rows_.add(Row::view_of(owners_.emplace_back(Row::owner_of(std::move(row))))); }
  // Lets go of each as it is copied, so that large ones are not there twice.
  auto finish() {
    return rows_.finish([this](std::size_t row) { owners_[row] = Owner(); });
  }

 protected:
  const Rows& rows() const { return rows_; }

 private:
  using Owner = typename Row::Owner;
  std::vector<Owner> owners_;  // tensors or vectors, whose values stay where they are as these move
  Rows rows_;
};

}  // namespace penstock::detail

#pragma GCC visibility pop
