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

#include <penstock/error.h>
#include <penstock/shape.h>

#pragma GCC visibility push(default)

namespace penstock {

// Element types. f16 and bf16 are stored as their 16 bits (std::uint16_t): C++20 has no type for them.
enum class DType : std::uint8_t { u8, i32, i64, f16, bf16, f32, f64 };

std::size_t size_of(DType type) noexcept;          // bytes of one value
std::string_view to_string(DType type) noexcept;   // "u8", "f32", ...

namespace detail {
template <class V> struct DTypeOf;
template <> struct DTypeOf<std::uint8_t> { static bool holds(DType t) { return t == DType::u8; } };
template <> struct DTypeOf<std::int32_t> { static bool holds(DType t) { return t == DType::i32; } };
template <> struct DTypeOf<std::int64_t> { static bool holds(DType t) { return t == DType::i64; } };
template <> struct DTypeOf<std::uint16_t> { static bool holds(DType t) { return t == DType::f16 || t == DType::bf16; } };
template <> struct DTypeOf<float> { static bool holds(DType t) { return t == DType::f32; } };
template <> struct DTypeOf<double> { static bool holds(DType t) { return t == DType::f64; } };

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
  std::int64_t size() const noexcept { return count_; }                                   // number of values
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(count_) * size_of(type_); }

  std::byte* data() noexcept { return data_.get(); }
  const std::byte* data() const noexcept { return data_.get(); }
  const std::shared_ptr<std::byte>& owner() const noexcept { return data_; }  // keeps the memory alive; points to data()

  // The values as V. Error(invalid_argument) if V does not fit dtype(); std::uint16_t fits f16 and bf16.
  template <class V> std::span<V> values() {
    check_type(detail::DTypeOf<V>::holds(type_));
    return {reinterpret_cast<V*>(data_.get()), static_cast<std::size_t>(count_)};
  }
  template <class V> std::span<const V> values() const {
    check_type(detail::DTypeOf<V>::holds(type_));
    return {reinterpret_cast<const V*>(data_.get()), static_cast<std::size_t>(count_)};
  }

  // Row i of dimension 0 as a view of the same memory, rank - 1. Needs rank >= 1 and 0 <= i < shape()[0].
  Tensor row(std::int64_t i) const;

 private:
  void check_type(bool fits) const;

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
