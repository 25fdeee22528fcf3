// Rows of numbers in whatever they come, as tensors: what padded and ragged batches are made of. Nothing here is meant
// to be called by users.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

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

  // Of the vector's own memory; bools, which lie there as bits, are copied.
  static Tensor tensor_of(std::vector<Value> row) {
    if constexpr (std::is_same_v<Value, bool>) {
      return RowOfNumbers<std::vector<std::uint8_t>>::tensor_of({row.begin(), row.end()});
    } else {
      Shape shape = shape_of(row);
      const auto owner = std::make_shared<std::vector<Value>>(std::move(row));
      return Tensor(type, std::move(shape),
                    std::shared_ptr<std::byte>(owner, reinterpret_cast<std::byte*>(owner->data())));
    }
  }
};

template <class T>
concept NumberRow = RowOfNumbers<T>::exists;

}  // namespace penstock::detail

#pragma GCC visibility pop
