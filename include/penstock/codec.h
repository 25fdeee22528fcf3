// Codec<T>: how a value becomes bytes of a file, and those a value again. What Dataset::cache(path) needs.
//
// There is one for numbers, bool, enums, std::string, ps::Tensor, for std::vector, std::array, std::optional, std::pair
// and std::tuple of what has one, for structs with ps::Fields, and for batches of all these. For another type write it:
//
//   struct Word { std::string text; int count; };
//   template <> struct ps::Codec<Word> {
//     static void write(const Word& word, ps::ByteWriter& to) {
//       to.write(word.text);
//       to.write(word.count);
//     }
//     static Word read(ps::ByteReader& from) {
//       auto text = from.read<std::string>();
//       return {std::move(text), from.read<int>()};
//     }
//   };
//
// read() takes the bytes that write() gave, at least one, and gives an equal value. Both are called by one thread for
// each file, and different ones at once: they have no state. Numbers are as this machine has them in memory: a file is
// for machines with the same byte order. Costs a copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/element.h>
#include <penstock/fields.h>
#include <penstock/ragged_batch.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock {

template <class T> struct Codec {};

class ByteWriter;
class ByteReader;

// T has a Codec.
template <class T>
concept HasCodec = requires(const T& value, ByteWriter& to, ByteReader& from) {
  Codec<T>::write(value, to);
  { Codec<T>::read(from) } -> std::convertible_to<T>;
};

// Appends to a list of bytes. For one thread.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& to) : to_(to) {}
  void bytes(const void* from, std::size_t count) {
    const auto* first = static_cast<const std::byte*>(from);
    to_.insert(to_.end(), first, first + count);
  }
  template <class T> void write(const T& value) { Codec<T>::write(value, *this); }

 private:
  std::vector<std::byte>& to_;
};

// Reads what a ByteWriter has written. Whatever the bytes are, it reads none beyond them: Error(data_loss). For one
// thread.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> from) : rest_(from) {}
  std::size_t rest() const noexcept { return rest_.size(); }  // bytes that are left
  void bytes(void* to, std::size_t count) {
    check(count, 1);
    if (count > 0) std::memcpy(to, rest_.data(), count);
    rest_ = rest_.subspan(count);
  }
  template <class T> T read() { return Codec<T>::read(*this); }
  // How many values follow, each of at least so many bytes: no more than there is room for.
  std::size_t count(std::size_t least_bytes_each = 1) {
    std::uint64_t count = 0;
    bytes(&count, sizeof(count));
    check(count, least_bytes_each);
    return static_cast<std::size_t>(count);
  }

 private:
  void check(std::uint64_t count, std::size_t bytes_each) const {
    if (count > rest_.size() / bytes_each) fail();
  }
  [[noreturn]] static void fail();

  std::span<const std::byte> rest_;
};

namespace detail {
// Whose bytes are its value. Not bool: of its bytes only two are; nor long double, of which some are none.
template <class T>
concept CodedAsBytes = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, long double>) ||
                       (std::is_enum_v<T> && !requires {
                         requires std::is_same_v < std::underlying_type_t<T>,
                         bool > ;
                       });

template <class T> struct FieldsHaveCodecs : std::false_type {};
template <class T, class... M>
struct FieldsHaveCodecs<std::pair<T, std::tuple<M...>>>
    : std::bool_constant<(HasCodec<std::remove_cvref_t<std::invoke_result_t<M, T&>>> && ...)> {};
template <class T>
concept CodedByFields = HasFields<T> && std::default_initializable<T> &&
    FieldsHaveCodecs<std::pair<T, std::remove_cvref_t<decltype(Fields<T>::value)>>>::value;

// Of a column of a batch.
inline std::int64_t rows_of(const Tensor& column) { return column.rank() == 0 ? 0 : column.shape()[0]; }
template <class Column> std::int64_t rows_of(const Column& column) { return static_cast<std::int64_t>(column.size()); }
void check_rows(std::int64_t rows, std::int64_t expected);  // Error(data_loss) where they differ

void write_tensor(const Tensor& tensor, ByteWriter& to);
Tensor read_tensor(ByteReader& from);
}  // namespace detail

template <detail::CodedAsBytes T> struct Codec<T> {
  static void write(T value, ByteWriter& to) { to.bytes(&value, sizeof(T)); }
  static T read(ByteReader& from) {
    T value;
    from.bytes(&value, sizeof(T));
    return value;
  }
};
template <> struct Codec<long double> {
  static constexpr std::size_t kBytes = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
  static void write(long double value, ByteWriter& to) { to.bytes(&value, kBytes); }
  static long double read(ByteReader& from) {
    long double value = 0;
    from.bytes(&value, kBytes);
    return value;
  }
};
template <> struct Codec<bool> {
  static void write(bool value, ByteWriter& to) { to.write(static_cast<std::uint8_t>(value)); }
  static bool read(ByteReader& from) { return from.read<std::uint8_t>() != 0; }
};
template <> struct Codec<std::string> {
  static void write(const std::string& text, ByteWriter& to) {
    to.write(std::uint64_t{text.size()});
    to.bytes(text.data(), text.size());
  }
  static std::string read(ByteReader& from) {
    std::string text(from.count(), '\0');
    from.bytes(text.data(), text.size());
    return text;
  }
};
template <> struct Codec<Tensor> {
  static void write(const Tensor& tensor, ByteWriter& to) { detail::write_tensor(tensor, to); }
  static Tensor read(ByteReader& from) { return detail::read_tensor(from); }
};
template <HasCodec T> struct Codec<std::vector<T>> {
  static void write(const std::vector<T>& values, ByteWriter& to) {
    to.write(std::uint64_t{values.size()});
    if constexpr (detail::CodedAsBytes<T>) {
      to.bytes(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) to.write(value);
    }
  }
  static std::vector<T> read(ByteReader& from) {
    std::vector<T> values;
    if constexpr (detail::CodedAsBytes<T>) {
      values.resize(from.count(sizeof(T)));
      from.bytes(values.data(), values.size() * sizeof(T));
    } else {
      for (std::size_t left = from.count(); left > 0; --left) values.push_back(from.read<T>());
    }
    return values;
  }
};
template <HasCodec T> struct Codec<Rows<T>> {
  static void write(const Rows<T>& rows, ByteWriter& to) { to.write<std::vector<T>>(rows); }
  static Rows<T> read(ByteReader& from) {
    Rows<T> rows;
    static_cast<std::vector<T>&>(rows) = from.read<std::vector<T>>();
    return rows;
  }
};
template <HasCodec T, std::size_t N>
requires(std::default_initializable<T>&& N > 0) struct Codec<std::array<T, N>> {
  static void write(const std::array<T, N>& values, ByteWriter& to) {
    for (const T& value : values) to.write(value);
  }
  static std::array<T, N> read(ByteReader& from) {
    std::array<T, N> values;
    for (T& value : values) value = from.read<T>();
    return values;
  }
};
template <HasCodec T> struct Codec<std::optional<T>> {
  static void write(const std::optional<T>& value, ByteWriter& to) {
    to.write(value.has_value());
    if (value) to.write(*value);
  }
  static std::optional<T> read(ByteReader& from) {
    return from.read<bool>() ? std::optional<T>(from.read<T>()) : std::nullopt;
  }
};
template <HasCodec A, HasCodec B> struct Codec<std::pair<A, B>> {
  static void write(const std::pair<A, B>& value, ByteWriter& to) {
    to.write(value.first);
    to.write(value.second);
  }
  static std::pair<A, B> read(ByteReader& from) {
    A first = from.read<A>();
    return {std::move(first), from.read<B>()};
  }
};
template <HasCodec... T> struct Codec<std::tuple<T...>> {
  static void write(const std::tuple<T...>& values, ByteWriter& to) {
    std::apply([&to](const T&... value) { (to.write(value), ...); }, values);
  }
  // In braces, so that the parts are read from the first to the last one.
  static std::tuple<T...> read(ByteReader& from) { return std::tuple<T...>{from.read<T>()...}; }
};
template <HasCodec V> struct Codec<Ragged<V>> {
  static void write(const Ragged<V>& ragged, ByteWriter& to) {
    to.write(ragged.values);
    to.write(ragged.row_splits);
  }
  static Ragged<V> read(ByteReader& from) {
    V values = from.read<V>();
    auto row_splits = from.read<std::vector<std::int64_t>>();
    detail::check_row_splits(row_splits, detail::rows_of(values));
    return {std::move(values), std::move(row_splits)};
  }
};
template <class T, template <class> class Together>
requires HasCodec<typename StructBatch<T, Together>::Columns>
struct Codec<StructBatch<T, Together>> {
  using Batch = StructBatch<T, Together>;
  static void write(const Batch& batch, ByteWriter& to) {
    to.write(batch.size());
    to.write(batch.columns());
  }
  static Batch read(ByteReader& from) {
    const auto size = from.read<std::int64_t>();
    auto columns = from.read<typename Batch::Columns>();
    std::apply([size](const auto&... column) { (detail::check_rows(detail::rows_of(column), size), ...); }, columns);
    return Batch(std::move(columns), size);
  }
};
template <detail::CodedByFields T> struct Codec<T> {
  static void write(const T& value, ByteWriter& to) {
    for_each_field(value, [&to](const auto& field) { to.write(field); });
  }
  static T read(ByteReader& from) {
    T value{};
    for_each_field(value, [&from]<class Field>(Field& field) { field = from.read<Field>(); });
    return value;
  }
};

namespace detail {

// The same of elements, by one that knows their type. Any thread.
class ElementCodec {
 public:
  virtual ~ElementCodec() = default;
  virtual void write(const Element& value, ByteWriter& to) const = 0;
  virtual Element read(ByteReader& from) const = 0;
  virtual const std::type_info& type() const noexcept = 0;
};
using ElementCodecRef = std::shared_ptr<const ElementCodec>;

template <class T> class TypedElementCodec final : public ElementCodec {
 public:
  void write(const Element& value, ByteWriter& to) const override { to.write(value.unchecked<T>()); }
  Element read(ByteReader& from) const override { return Element(from.read<T>()); }
  const std::type_info& type() const noexcept override { return typeid(T); }
};

// What tells values apart in the text of a pipeline: an integer, or "#" and a number of what is written of them. "": of
// a type that has no Codec, or one that throws.
std::string short_text_of(std::span<const std::byte> bytes);
template <class T> std::string short_text_of(const T& value) {
  if constexpr (requires { std::to_string(value); } && std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (HasCodec<T>) {
    try {
      std::vector<std::byte> bytes;
      ByteWriter(bytes).write(value);
      return short_text_of(std::span<const std::byte>(bytes));
    } catch (...) {
      return {};
    }
  } else {
    return {};
  }
}

}  // namespace detail

}  // namespace penstock

#pragma GCC visibility pop
