#include <penstock/padded_batch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "lib/base/fail_argument.h"
#include "lib/base/text.h"
#include "lib/core/batch_block.h"
#include "lib/core/stream_copy.h"

namespace penstock {
namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& text) { throw Error(code, text); }

// "padded_shapes of field tokens"
std::string of_field(const std::string& what, const Padding& padding) {
  return padding.field.empty() ? what : what + " of field " + padding.field;
}

// ------------------------------------------------------------------------------------------------ values

template <class V> std::vector<std::byte> bytes_of_value(V value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

// The nearest floating-point number of 16 bits, ties to even, of a number that is not beyond their largest one.
std::uint16_t bits_of(double value, int mantissa_bits) {
  const int exponent_bits = 15 - mantissa_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int infinity = ((1 << exponent_bits) - 1) << mantissa_bits;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (mantissa_bits - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return static_cast<std::uint16_t>(sign);
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);  // small numbers have fewer digits
  const double digits = std::nearbyint(std::ldexp(std::abs(value), mantissa_bits - exponent));
  // The digit before the point, if there is one, counts the exponent up; and so does a carry.
  const double bits = digits + std::ldexp(exponent + bias - 1, mantissa_bits);
  return static_cast<std::uint16_t>(sign | static_cast<int>(bits));
}

using ValueBytes = std::optional<std::vector<std::byte>>;

template <std::integral V> ValueBytes integer_bytes(double value) {
  // Beyond the largest one by 1, which a double can hold.
  const double end = std::ldexp(1.0, std::numeric_limits<V>::digits);
  if (value != std::trunc(value) || value >= end || value < static_cast<double>(std::numeric_limits<V>::min()))
    return std::nullopt;
  return bytes_of_value(static_cast<V>(value));
}
template <std::integral V, std::integral Given> ValueBytes integer_bytes(Given value) {
  if (!std::in_range<V>(value)) return std::nullopt;
  return bytes_of_value(static_cast<V>(value));
}

double largest_of(DType type) {
  if (type == DType::f16) return 65504;
  if (type == DType::bf16) return 0x1.FEp127;
  return type == DType::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

ValueBytes float_bytes(double value, DType type) {
  if (std::isfinite(value) && std::abs(value) > largest_of(type)) return std::nullopt;
  if (type == DType::f16) return bytes_of_value(bits_of(value, 10));
  if (type == DType::bf16) return bytes_of_value(bits_of(value, 7));
  return type == DType::f32 ? bytes_of_value(static_cast<float>(value)) : bytes_of_value(value);
}

template <class V> ValueBytes number_bytes(V value, DType type) {
  switch (type) {
    case DType::u8: return integer_bytes<std::uint8_t>(value);
    case DType::i32: return integer_bytes<std::int32_t>(value);
    case DType::i64: return integer_bytes<std::int64_t>(value);
    default: return float_bytes(static_cast<double>(value), type);
  }
}

// ------------------------------------------------------------------------------------------------ copying

// What fills up: a value's bytes.
void fill(std::byte* place, std::size_t bytes, const std::vector<std::byte>& value) {
  if (std::ranges::count(value, value.front()) == std::ssize(value)) {
    std::memset(place, static_cast<int>(value.front()), bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes; at += value.size()) std::memcpy(place + at, value.data(), value.size());
}

void copy(std::byte* place, const std::byte* from, std::size_t bytes, bool beyond_caches) {
  if (beyond_caches)
    stream_copy(place, from, bytes);
  else if (bytes > 0)
    std::memcpy(place, from, bytes);
}

std::size_t count(std::span<const std::int64_t> sizes) {
  return static_cast<std::size_t>(
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<std::int64_t>()));
}

// A row into its place, dimension after dimension: what is there, and then what fills it up.
class Filler {
 public:
  Filler(const Shape& padded, std::vector<std::byte> value, bool beyond_caches)
      : padded_(padded), value_(std::move(value)), beyond_caches_(beyond_caches) {}

  void place(std::byte* to, const std::byte* from, std::span<const std::int64_t> sizes) const {
    const std::span<const std::int64_t> padded = std::span(padded_).last(sizes.size());
    const std::size_t wanted = count(padded) * value_.size();
    if (std::ranges::equal(sizes, padded)) return copy(to, from, wanted, beyond_caches_);
    const std::size_t whole = wanted / static_cast<std::size_t>(padded[0]);
    std::size_t done = 0;
    if (std::ranges::equal(sizes.subspan(1), padded.subspan(1))) {  // as good as one dimension
      done = whole * static_cast<std::size_t>(sizes[0]);
      copy(to, from, done, beyond_caches_);
    } else {
      const std::size_t part = count(sizes.subspan(1)) * value_.size();
      for (; done < whole * static_cast<std::size_t>(sizes[0]); done += whole, from += part)
        place(to + done, from, sizes.subspan(1));
    }
    fill(to + done, wanted - done, value_);
  }

 private:
  const Shape& padded_;
  const std::vector<std::byte> value_;
  const bool beyond_caches_;
};

std::string and_other(std::string first, std::string more) {
  return first.empty() || more.empty() ? first + more : first + ", " + more;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ what is told

std::optional<std::vector<std::byte>> PaddingValue::bytes_as(DType type) const {
  if (text() != nullptr) return std::nullopt;
  if (const auto* number = std::get_if<double>(&value_)) return number_bytes(*number, type);
  if (const auto* large = std::get_if<std::uint64_t>(&value_)) return number_bytes(*large, type);
  return number_bytes(is_given() ? std::get<std::int64_t>(value_) : 0, type);
}

std::string to_string(const PaddingValue& value) {
  if (!value.is_given()) return "0";
  if (value.text() != nullptr) return "'" + *value.text() + "'";
  if (const auto* number = std::get_if<double>(&value.value_)) return shortest_text(*number);
  if (const auto* large = std::get_if<std::uint64_t>(&value.value_)) return std::to_string(*large);
  return std::to_string(std::get<std::int64_t>(value.value_));
}

std::string to_string(const Padding& padding) {
  std::string text;
  if (!padding.shape.empty()) text = of_field("padded_shapes", padding) + "=" + to_string(padding.shape);
  if (padding.value.is_given())
    text = and_other(text, of_field("padding_values", padding) + "=" + to_string(padding.value));
  for (const Padding& field : padding.fields) text = and_other(text, to_string(field));
  return text;
}

namespace {

void check_value(const Padding& padding, DType type) {
  if (!padding.value.bytes_as(type))
    fail_argument(of_field("padding_values", padding) + " is " + to_string(padding.value) + ", which " +
                  std::string(to_string(type)) + " cannot hold; give another one, or the values another type");
}

}  // namespace

namespace detail {

Padding& padding_of_field(Padding& padding, std::size_t field) {
  if (field < padding.fields.size()) return padding.fields[field];
  fail_argument("padding is given for a member that is not listed in ps::Fields; add it to the std::tuple there");
}

void check_padding(const Padding& padding) {
  for (const std::int64_t size : padding.shape)
    if (size < LONGEST)
      fail_argument(of_field("padded_shapes", padding) + " must have sizes of at least 0, or LONGEST (-1), but is " +
                    to_string(padding.shape));
}

void check_padding(const Padding& padding, DType type, std::size_t rank) {
  check_padding(padding);
  if (!padding.shape.empty() && padding.shape.size() != rank)
    fail_argument(of_field("padded_shapes", padding) + " must have rank " + std::to_string(rank) +
                  ", as what is padded has, but is " + to_string(padding.shape));
  check_value(padding, type);
}

void check_padding_of_vectors(const Padding& padding, bool of_strings, std::size_t longest) {
  check_padding(padding);
  if (padding.shape.size() > 1)
    fail_argument(of_field("padded_shapes", padding) + " must have 1 size, that of the vector, but is " +
                  to_string(padding.shape));
  if (padded_length(padding, 0) > longest)
    fail_argument(of_field("padded_shapes", padding) + " must be at most " + std::to_string(longest) +
                  ", for no vector of this type is longer, but is " + to_string(padding.shape));
  if (padding.value.is_given() && !(of_strings && padding.value.text() != nullptr))
    fail_argument(of_field("padding_values", padding) + " is " + to_string(padding.value) +
                  ", but these vectors are filled " +
                  (of_strings ? "with strings" : "with values as they are by default; leave it out"));
}

void check_padding_of_nothing(const Padding& padding) {
  if (padding.shape.empty() && !padding.value.is_given()) return;
  const char* what = padding.shape.empty() ? "padding_values" : "padded_shapes";
  fail_argument(of_field(what, padding) + " is given, but only tensors and vectors are padded; leave it out");
}

// ------------------------------------------------------------------------------------------------ one row

namespace {

bool is_longest(const Padding& padding, std::size_t dimension) {
  return padding.shape.empty() || padding.shape[dimension] == LONGEST;
}

// LONGEST: as large as the longest of the batch.
std::int64_t size_of(const Padding& padding, std::size_t dimension) {
  if (!is_longest(padding, dimension)) return padding.shape[dimension];
  return dimension == 0 ? padding.longest : LONGEST;
}

[[noreturn]] void fail_too_long(const Padding& padding, std::size_t dimension, std::int64_t size) {
  const std::string allowed = std::to_string(size_of(padding, dimension));
  fail(
      ErrorCode::data_loss,
      "Attempted to pad to a smaller size than the input element. " +
          of_field("Dimension " + std::to_string(dimension), padding) + " has size " + std::to_string(size) +
          (is_longest(padding, dimension)
               ? ", but its bucket has room for " + allowed +
                     ". Let the length function tell the largest of the sizes that are padded, or cut the element by a "
                     "map before"
               : ", but padded_shapes gives it " + allowed +
                     ". Give it more there, or LONGEST for the longest of each batch, or cut the element by a map "
                     "before"));
}

void check_size(const Padding& padding, std::size_t dimension, std::int64_t size) {
  const std::int64_t allowed = size_of(padding, dimension);
  if (allowed != LONGEST && size > allowed) fail_too_long(padding, dimension, size);
}

void set_longest(Padding& padding, std::int64_t size) {
  padding.longest = size;
  for (Padding& field : padding.fields) set_longest(field, size);
}

}  // namespace

void check_length(const Padding& padding, std::size_t length) {
  check_size(padding, 0, static_cast<std::int64_t>(length));
}

std::size_t padded_length(const Padding& padding, std::size_t longest) {
  const std::int64_t size = size_of(padding, 0);
  return size == LONGEST ? longest : static_cast<std::size_t>(size);
}

std::vector<Padding> paddings_of_buckets(const Padding& padding, const std::vector<std::int64_t>& boundaries,
                                         bool pad_to_bucket_boundary) {
  std::vector<Padding> paddings(boundaries.size() + 1, padding);
  for (std::size_t i = 0; i < boundaries.size() && pad_to_bucket_boundary; ++i)
    set_longest(paddings[i], boundaries[i] - 1);
  return paddings;
}

PaddedRows::PaddedRows(std::size_t capacity, const Padding& padding) : padding_(padding) {
  rows_.reserve(std::min<std::size_t>(capacity, 1024));
}

void PaddedRows::check(DType type, const Shape& shape) const {
  if (!rows_.empty() && type != type_)
    fail_argument("Cannot batch tensors with different types. " + of_field("First element", padding_) + " had type " +
                  std::string(to_string(type_)) + " and element " + std::to_string(rows_.size()) + " had type " +
                  std::string(to_string(type)) + ". Bring them to one type with a map before");
  if (rows_.empty()) check_value(padding_, type);  // the others have its type
  check_sizes(shape);
}

void PaddedRows::check_sizes(const Shape& shape) const {
  const Shape& alike = padding_.shape.empty() && !rows_.empty() ? longest_ : padding_.shape;
  const bool may_differ = padding_.shape.empty() && rows_.empty();
  if (!may_differ && shape.size() != alike.size())
    fail_argument("All elements in a batch must have the same rank as the padded shape. " +
                  of_field("The element", padding_) + " has shape " + to_string(shape) + ", of rank " +
                  std::to_string(shape.size()) + ", but rank " + std::to_string(alike.size()) +
                  " is expected. Bring it there with a map before");
  for (std::size_t i = 0; i < shape.size(); ++i) check_size(padding_, i, shape[i]);
}

void PaddedRows::add(RowView row) {
  if (rows_.empty()) {
    type_ = row.type;
    longest_ = row.shape;
  }
  for (std::size_t i = 0; i < longest_.size(); ++i) longest_[i] = std::max(longest_[i], row.shape[i]);
  rows_.push_back(std::move(row));
}

Shape PaddedRows::padded_shape() const {
  Shape shape = longest_;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (const std::int64_t size = size_of(padding_, i); size != LONGEST) shape[i] = size;
  return shape;
}

Tensor PaddedRows::finish(const RowCopied& copied) {
  const Shape padded = padded_shape();
  Shape shape = padded;
  shape.insert(shape.begin(), std::ssize(rows_));
  Tensor batch(type_, shape);
  const std::size_t bytes = batch.bytes(), bytes_of_row = bytes / rows_.size();
  const Filler filler(padded, padding_.value.bytes_as(type_).value(), bytes >= kBeyondCaches);
  std::byte* place = batch.data();
  for (std::size_t i = 0; i < rows_.size(); ++i, place += bytes_of_row) {
    if (bytes > 0) filler.place(place, rows_[i].data, rows_[i].shape);
    copied_bytes_of_thread() += static_cast<std::int64_t>(rows_[i].bytes);
    copied(i);
  }
  rows_.clear();
  return batch;
}

}  // namespace detail
}  // namespace penstock
