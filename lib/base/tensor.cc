#include <penstock/tensor.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/base/fail_argument.h"

namespace penstock {
namespace {

// Leaves room for sums of sizes and for alignment without overflow of a std::size_t.
constexpr std::int64_t max_bytes = std::int64_t{1} << 62;

std::int64_t checked_count(DType type, const Shape& shape) {
  const std::int64_t count = element_count(shape);
  if (count > max_bytes / static_cast<std::int64_t>(size_of(type)))
    fail_argument("a tensor of shape " + to_string(shape) + " and type " + std::string(to_string(type)) +
                  " has more than 2^62 bytes");
  return count;
}

}  // namespace

std::size_t size_of(DType type) noexcept {
  switch (type) {
    case DType::u8: return 1;
    case DType::f16:
    case DType::bf16: return 2;
    case DType::i32:
    case DType::f32: return 4;
    case DType::i64:
    case DType::f64: break;
  }
  return 8;
}

std::string_view to_string(DType type) noexcept {
  static constexpr std::string_view names[] = {"u8", "i32", "i64", "f16", "bf16", "f32", "f64"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(names) ? names[index] : "unknown";
}

Tensor::Tensor(DType type, Shape shape) : type_(type), shape_(std::move(shape)), count_(checked_count(type_, shape_)) {
  if (count_ != 0) data_ = detail::allocate_payload(bytes());
}

Tensor::Tensor(DType type, Shape shape, std::shared_ptr<std::byte> owner)
    : type_(type), shape_(std::move(shape)), count_(checked_count(type_, shape_)), data_(std::move(owner)) {
  if (count_ != 0 && !data_)
    fail_argument("a tensor of shape " + to_string(shape_) + " without memory; give its owner");
}

Tensor Tensor::scalar(std::int64_t value) {
  Tensor tensor(DType::i64, {});
  tensor.values<std::int64_t>()[0] = value;
  return tensor;
}

Tensor Tensor::of(std::span<const std::int64_t> values) {
  Tensor tensor(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, tensor.values<std::int64_t>().begin());
  return tensor;
}

Tensor Tensor::row(std::int64_t i) const {
  if (rank() == 0) fail_argument("a tensor of rank 0 has no rows; look at rank() first");
  if (i < 0 || i >= shape_[0])
    fail_argument("row " + std::to_string(i) + " is outside a tensor of shape " + to_string(shape_));
  const std::size_t row_bytes = bytes() / static_cast<std::size_t>(shape_[0]);
  std::byte* const begin = data_ ? data_.get() + static_cast<std::size_t>(i) * row_bytes : nullptr;
  return Tensor(type_, Shape(shape_.begin() + 1, shape_.end()), std::shared_ptr<std::byte>(data_, begin));
}

void Tensor::fail_type(const char* asked) const {
  fail_argument("a tensor of type " + std::string(to_string(type_)) + " does not hold values of type " + asked +
                ": look at dtype(), and ask values<>() for that type");
}

bool operator==(const Tensor& a, const Tensor& b) noexcept {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return a.bytes() == 0 || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace penstock
