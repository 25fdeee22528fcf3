// Tensor: a dense array whose element type and shape are known at run time.
//
// A Tensor owns a share of its memory: copying a Tensor copies a reference (O(1)), never the values. Two copies
// see the same values, so write only to tensors that nobody else holds. Memory of 256 KiB and more
// comes from penstock's payload pool, so that a long run does not fragment the heap. Values are row-major.
// Const members may be called from any number of threads.
//
//   ps::Tensor image(ps::DType::u8, {375, 500, 3});
//   std::span<std::uint8_t> pixels = image.values<std::uint8_t>();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/unavailable.h>
#include <penstock/error.h>
#include <penstock/shape.h>

#pragma GCC visibility push(default)

namespace penstock {

// Element types. f16 and bf16 are stored as their 16 bits (std::uint16_t): C++20 has no type for them.
enum class DType : std::uint8_t { u8, i32, i64, f16, bf16, f32, f64 };

std::size_t size_of(DType type) noexcept;         // bytes of one value
std::string_view to_string(DType type) noexcept;  // "u8", "f32", ...

namespace detail {
// A C++ type of values: its name, the DType that it is, and the second one that std::uint16_t is.
template <class V> struct DTypeOf { static constexpr const char* name = nullptr; };
template <DType first, DType second = first> struct DTypes {
  static constexpr DType type = first;
  static constexpr bool holds(DType t) { return t == first || t == second; }
};
template <> struct DTypeOf<std::uint8_t> : DTypes<DType::u8> { static constexpr const char* name = "std::uint8_t"; };
template <> struct DTypeOf<std::int32_t> : DTypes<DType::i32> { static constexpr const char* name = "std::int32_t"; };
template <> struct DTypeOf<std::int64_t> : DTypes<DType::i64> { static constexpr const char* name = "std::int64_t"; };
template <> struct DTypeOf<std::uint16_t> : DTypes<DType::f16, DType::bf16> {
  static constexpr const char* name = "std::uint16_t";
};
template <> struct DTypeOf<float> : DTypes<DType::f32> { static constexpr const char* name = "float"; };
template <> struct DTypeOf<double> : DTypes<DType::f64> { static constexpr const char* name = "double"; };

template <class V>
concept TensorValue = DTypeOf<V>::name != nullptr;

// Uninitialised memory, 64-byte aligned; from the payload pool when it is large. Throws std::bad_alloc.
std::shared_ptr<std::byte> allocate_payload(std::size_t bytes);
}  // namespace detail

class Tensor {
 public:
  // An empty tensor: u8, shape [0], no memory.
  Tensor() : shape_{0} {}

  // New memory, values not initialised. Error(invalid_argument) on a negative dimension or more than 2^62 bytes.
  Tensor(DType type, Shape shape);

  // A tensor of rank 0 or 1 with the given values.
  static Tensor scalar(std::int64_t value);
  static Tensor of(std::span<const std::int64_t> values);

  // Wraps memory that `owner` keeps alive.
  Tensor(DType type, Shape shape, std::shared_ptr<std::byte> owner);

  DType dtype() const noexcept { return type_; }
  const Shape& shape() const noexcept { return shape_; }
  std::size_t rank() const noexcept { return shape_.size(); }
  std::int64_t size() const noexcept { return count_; }  // number of values
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(count_) * size_of(type_); }

  std::byte* data() noexcept { return data_.get(); }
  const std::byte* data() const noexcept { return data_.get(); }
  const std::shared_ptr<std::byte>& owner() const noexcept {
    return data_;
  }  // keeps the memory alive; points to data()

  // A column of numbers is a std::vector and no tensor, so that the compiler can say what to write.
  template <class V>
  PENSTOCK_UNAVAILABLE(
      "a std::vector is no Tensor: write batch.tensor<&Example::label>() for a column of a batch, or copy the values "
      "into a Tensor(type, shape)")
  Tensor(const std::vector<V>&) {}

  // The values as V. Error(invalid_argument) if V does not fit dtype(); std::uint16_t fits f16 and bf16.
  template <detail::TensorValue V> std::span<V> values() {
    check_type<V>();
    return {reinterpret_cast<V*>(data_.get()), static_cast<std::size_t>(count_)};
  }
  template <detail::TensorValue V> std::span<const V> values() const {
    check_type<V>();
    return {reinterpret_cast<const V*>(data_.get()), static_cast<std::size_t>(count_)};
  }

  // What no method takes, so that the compiler can say why.
  template <class V>
  requires(!detail::TensorValue<V>) PENSTOCK_UNAVAILABLE(
      "values(): a tensor holds std::uint8_t, std::int32_t, std::int64_t, float, double, or the bits of f16 and bf16 "
      "as std::uint16_t: ask for one of these")
  std::span<V> values() const { return {}; }

  // Row i of dimension 0 as a view of the same memory, rank - 1. Needs rank >= 1 and 0 <= i < shape()[0].
  Tensor row(std::int64_t i) const;

 private:
  template <class V> void check_type() const {
    if (!detail::DTypeOf<V>::holds(type_)) fail_type(detail::DTypeOf<V>::name);
  }
  [[noreturn]] void fail_type(const char* asked) const;

  DType type_ = DType::u8;
  Shape shape_;
  std::int64_t count_ = 0;
  std::shared_ptr<std::byte> data_;
};

// Same type, shape and bytes.
bool operator==(const Tensor& a, const Tensor& b) noexcept;

// Copies `rows` (all of one type and shape) into a new tensor of rank + 1.
// Error(invalid_argument) in tf.data's words if types or shapes differ.
Tensor stack(std::span<const Tensor> rows);

}  // namespace penstock

#pragma GCC visibility pop
