#include <penstock/codec.h>
#include <penstock/error.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/fnv1a.h"

namespace penstock {
namespace {

constexpr std::uint8_t kLastType = static_cast<std::uint8_t>(DType::f64);

[[noreturn]] void fail_tensor(const char* what) {
  throw Error(ErrorCode::data_loss, std::string("these bytes are no tensor: ") + what);
}

DType read_type(ByteReader& from) {
  const auto type = from.read<std::uint8_t>();
  if (type > kLastType) fail_tensor("there is no such type of values");
  return static_cast<DType>(type);
}

// Of values that are there: no dimension makes more of them.
Shape read_shape(ByteReader& from, DType type) {
  std::vector<std::int64_t> shape;
  for (std::size_t left = from.count(sizeof(std::int64_t)); left > 0; --left)
    shape.push_back(from.read<std::int64_t>());
  std::size_t room = from.rest() / size_of(type);
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) fail_tensor("a dimension is negative");
    is_empty = is_empty || size == 0;
  }
  for (const std::int64_t size : shape) {
    if (is_empty) break;
    if (static_cast<std::uint64_t>(size) > room) fail_tensor("it would have more values than there are");
    room /= static_cast<std::size_t>(size);
  }
  return Shape(shape);
}

}  // namespace

void ByteReader::fail() {
  throw Error(ErrorCode::data_loss, "the bytes of a value end before it does, or are of another type");
}

void detail::check_rows(std::int64_t rows, std::int64_t expected) {
  if (rows != expected) throw Error(ErrorCode::data_loss, "the columns of a batch differ in length, or from its size");
}

void detail::write_tensor(const Tensor& tensor, ByteWriter& to) {
  to.write(static_cast<std::uint8_t>(tensor.dtype()));
  to.write(std::uint64_t{tensor.rank()});
  for (const std::int64_t size : tensor.shape()) to.write(size);
  to.bytes(tensor.data(), tensor.bytes());
}

std::string detail::short_text_of(std::span<const std::byte> bytes) {
  std::array<char, 16> digits{};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return "#" +
         std::string(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), fnv1a(text), 16).ptr);
}

Tensor detail::read_tensor(ByteReader& from) {
  const DType type = read_type(from);
  Tensor tensor(type, read_shape(from, type));
  from.bytes(tensor.data(), tensor.bytes());
  return tensor;
}

}  // namespace penstock
