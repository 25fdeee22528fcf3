// Batches of elements that differ in length, each filled up to the size of the longest or to a size of your own: what
// Dataset::padded_batch() and bucket_by_sequence_length() give, and how they are told.
//
//  padded batch of Tensor                               -> one Tensor of rank + 1, contiguous
//  of a std::vector of numbers                          -> Tensor [n, longest]; of std::arrays [n, longest, N]
//  of any other std::vector<V>                          -> std::vector<std::vector<V>>, all equally long
//  of a struct with ps::Fields                          -> PaddedBatch<Example>: a column per field, as above
//  of anything else                                     -> what batch() makes of it
//
//   struct Sentence { std::vector<std::int32_t> tokens; std::int32_t label; };
//   template <> struct ps::Fields<Sentence> {
//     static constexpr auto value = std::tuple{&Sentence::tokens, &Sentence::label};
//   };
//
//   auto batches = sentences.padded_batch(32, {.padded_shapes = {{&Sentence::tokens, {128}}},
//                                              .padding_values = {{&Sentence::tokens, -1}}});
//   for (auto&& batch : batches) step(batch.column<&Sentence::tokens>());  // Tensor i32 [32, 128]
//
// A type of your own can say otherwise by specialising PaddedCollate.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <penstock/batch.h>
#include <penstock/detail/rows.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock {

// A size in padded_shapes: that of the longest element of each batch.
inline constexpr std::int64_t LONGEST = -1;

// What fills a row up: 0 and "" unless it is given. A tensor's or vector's type must be able to hold a number as it is;
// floating-point types hold it rounded, unless it is beyond their largest number: infinity must be said.
class PaddingValue {
 public:
  PaddingValue() = default;
  template <std::integral V> PaddingValue(V value) : value_(static_cast<std::int64_t>(value)) {  // NOLINT: implicit
    if (value > V{} && std::get<std::int64_t>(value_) < 0) value_ = static_cast<std::uint64_t>(value);
  }
  template <std::floating_point V> PaddingValue(V value) : value_(static_cast<double>(value)) {}  // NOLINT: implicit
  template <std::convertible_to<std::string> V>
  PaddingValue(V value) : value_(std::string(value)) {}  // NOLINT: implicit

  bool is_given() const noexcept { return value_.index() > 0; }
  const std::string* text() const noexcept { return std::get_if<std::string>(&value_); }
  // The bytes of one value of this type; none if it cannot hold the value.
  std::optional<std::vector<std::byte>> bytes_as(DType type) const;
  friend std::string to_string(const PaddingValue& value);  // "-1", "0.5", "'x'"

 private:
  std::variant<std::monostate, std::int64_t, std::uint64_t, double, std::string> value_;  // unsigned: if it must be
};

// How one tensor or vector is padded.
struct Padding {
  Shape shape = {};                  // a size or LONGEST for each dimension; of rank 0: LONGEST in all of them
  PaddingValue value = {};           // 0 or "" where it is not given
  std::string field = {};            // the member's name, for texts; "" of an element that is no struct
  std::vector<Padding> fields = {};  // of a struct, in the order of its Fields; none: nothing is given
  // what LONGEST stands for in the first dimension: a size, or that of each batch's longest element
  std::int64_t longest = LONGEST;

  // Where nothing is given, a field has what the whole has, which then is `longest` alone.
  friend const Padding& for_field(const Padding& padding, std::size_t i) {
    return padding.fields.empty() ? padding : padding.fields[i];
  }
};
std::string to_string(const Padding& padding);  // "padded_shapes=[128], padding_values=-1"; "" if nothing is given

// What is given for a field of T.
template <class T> struct FieldShape {
  template <class V, class C>
  FieldShape(V C::*member, Shape size) : field(field_index<T>(member)), shape(std::move(size)) {}
  std::size_t field;
  Shape shape;
};
template <class T> struct FieldValue {
  template <class V, class C>
  FieldValue(V C::*member, PaddingValue fill) : field(field_index<T>(member)), value(std::move(fill)) {}
  std::size_t field;
  PaddingValue value;
};

namespace detail {
template <class T> struct PaddingOptions {
  using PaddedShapes = Shape;
  using PaddingValues = PaddingValue;
};
template <HasFields T> struct PaddingOptions<T> {
  using PaddedShapes = std::vector<FieldShape<T>>;
  using PaddingValues = std::vector<FieldValue<T>>;
};
}  // namespace detail

// A Shape and a PaddingValue, or of structs some of each: {{&Sentence::tokens, {128}}}, {{&Sentence::tokens, -1}}.
// Write the members in this order; any may be left out.
template <class T> struct PaddedBatchOptions {
  typename detail::PaddingOptions<T>::PaddedShapes padded_shapes = {};    // LONGEST in all dimensions
  typename detail::PaddingOptions<T>::PaddingValues padding_values = {};  // 0 or ""
  bool drop_remainder = false;  // leaves the last batch of an epoch out if it is not full
};

// The same, and which lengths go together: bucket_boundaries {16, 64} are below 16, 16 to 63, and 64 or more, each with
// a batch size of its own.
template <class T> struct BucketOptions {
  std::vector<std::int64_t> bucket_boundaries = {};   // rising: the first length of each bucket but the first
  std::vector<std::int64_t> bucket_batch_sizes = {};  // one more than there are boundaries
  typename detail::PaddingOptions<T>::PaddedShapes padded_shapes = {};    // LONGEST in all dimensions
  typename detail::PaddingOptions<T>::PaddingValues padding_values = {};  // 0 or ""
  // Pads the first dimension to the bucket's boundary - 1 instead of the longest of the batch, unless padded_shapes
  // gives a size: so there are as many shapes as boundaries. An element of the last boundary's length or more fails
  // (invalid_argument). Boundaries must be at least 1.
  bool pad_to_bucket_boundary = false;
  bool drop_remainder = false;  // leaves batches out that are not full at the end of an epoch
};

namespace detail {
// Tensors of one field until they are filled up together, in the memory of the batch.
class PaddedRows {
 public:
  PaddedRows(std::size_t capacity, const Padding& padding);
  void check(DType type, const Shape& shape) const;
  void add(RowView row);  // its owner lives until it is copied
  Tensor finish(const RowCopied& copied);

 private:
  void check_sizes(const Shape& shape) const;
  Shape padded_shape() const;

  const Padding& padding_;
  std::vector<RowView> rows_;
  DType type_ = DType::u8;
  Shape longest_;
};

// Throw Error(invalid_argument) for a padding that cannot be: of elements of any type and rank, of those of a known
// one, of vectors that are no tensors (and can have `longest` values), and of what is not padded.
void check_padding(const Padding& padding);
void check_padding(const Padding& padding, DType type, std::size_t rank);
void check_padding_of_vectors(const Padding& padding, bool of_strings, std::size_t longest);
void check_padding_of_nothing(const Padding& padding);
std::size_t padded_length(const Padding& padding, std::size_t longest);
// One for each bucket.
std::vector<Padding> paddings_of_buckets(const Padding& padding, const std::vector<std::int64_t>& boundaries,
                                         bool pad_to_bucket_boundary);
void check_length(const Padding& padding, std::size_t length);
}  // namespace detail

// Customisation point of padded_batch(), as Collate is of batch(): a Builder is told the padding, too, which lives
// longer than it. check() throws Error(invalid_argument) where the graph is built, for a padding that makes no sense.
template <class T> struct PaddedCollate {
  using Result = Batch<T>;
  static void check(const Padding& padding) { detail::check_padding_of_nothing(padding); }
  class Builder : public Collate<T>::Builder {
   public:
    Builder(std::size_t capacity, const Padding&) : Collate<T>::Builder(capacity) {}
  };
};
template <class T> using PaddedBatch = typename PaddedCollate<T>::Result;

template <> struct PaddedCollate<Tensor> {
  using Result = Tensor;
  static void check(const Padding& padding) { detail::check_padding(padding); }
  struct Builder : detail::RowsBuilder<detail::RowOfTensor, detail::PaddedRows> {
    using RowsBuilder::RowsBuilder;
    void check(const Tensor& row) const { rows().check(row.dtype(), row.shape()); }
  };
};

template <detail::NumberRow T> struct PaddedCollate<T> {
  using Result = Tensor;
  using Row = detail::RowOfNumbers<T>;
  static void check(const Padding& padding) { detail::check_padding(padding, Row::type, Row::rank()); }
  struct Builder : detail::RowsBuilder<Row, detail::PaddedRows> {
    using Builder::RowsBuilder::RowsBuilder;
    void check(const T& row) const { this->rows().check(Row::type, Row::shape_of(row)); }
  };
};

template <class V>
requires(!detail::NumberRow<std::vector<V>> && std::default_initializable<V>) struct PaddedCollate<std::vector<V>> {
  using Result = std::vector<std::vector<V>>;
  static constexpr bool is_text = std::is_same_v<V, std::string>;
  static void check(const Padding& padding) {
    detail::check_padding_of_vectors(padding, is_text, std::vector<V>().max_size());
  }
  class Builder {
   public:
    Builder(std::size_t capacity, const Padding& padding) : padding_(padding), rows_(capacity) {}
    void check(const std::vector<V>& row) const { detail::check_length(padding_, row.size()); }
    void add(std::vector<V> row) {
      longest_ = std::max(longest_, row.size());
      rows_.add(std::move(row));
    }
    Result finish() {
      Result rows = rows_.finish();
      for (std::vector<V>& row : rows) fill_up(row, detail::padded_length(padding_, longest_));
      return rows;
    }

   private:
    void fill_up(std::vector<V>& row, std::size_t length) const {
      if constexpr (is_text) {
        row.resize(length, padding_.value.is_given() ? *padding_.value.text() : V());
      } else {
        row.resize(length);
      }
    }
    const Padding& padding_;
    typename Collate<std::vector<V>>::Builder rows_;
    std::size_t longest_ = 0;
  };
};

// What a vector would be filled up with is not known.
template <class V>
requires(!detail::NumberRow<std::vector<V>> && !std::default_initializable<V>) struct PaddedCollate<std::vector<V>> {
};

template <HasFields T> struct PaddedCollate<T> : detail::CollateFields<T, PaddedCollate> {
  static void check(const Padding& padding) {
    detail::check_padding_of_nothing(padding);  // as a whole
    for_each_field_index<T>([&](auto i) { PaddedCollate<FieldType<T, i>>::check(for_field(padding, i)); });
  }
};

// Its parts are padded to the longest, with 0; map() to a struct to say otherwise.
template <class First, class... More> struct PaddedCollate<std::tuple<First, More...>> {};
template <class First, class... More>
requires requires {
  typename std::tuple<typename PaddedCollate<First>::Result, typename PaddedCollate<More>::Result...>;
}
struct PaddedCollate<std::tuple<First, More...>> : detail::CollateParts<std::tuple<First, More...>, PaddedCollate> {
  static void check(const Padding& padding) { detail::check_padding_of_nothing(padding); }
};

namespace detail {
// The padding of a field, of which nothing has been given yet. Error(invalid_argument) if there is no such field.
Padding& padding_of_field(Padding& padding, std::size_t field);

// What the options say, checked.
template <class T>
Padding padding_of(const typename PaddingOptions<T>::PaddedShapes& shapes,
                   const typename PaddingOptions<T>::PaddingValues& values) {
  Padding padding;
  if constexpr (HasFields<T>) {
    for_each_field_index<T>([&](auto i) { padding.fields.push_back({.field = std::string(field_name<T, i>())}); });
    for (const FieldShape<T>& given : shapes) padding_of_field(padding, given.field).shape = given.shape;
    for (const FieldValue<T>& given : values) padding_of_field(padding, given.field).value = given.value;
  } else {
    padding.shape = shapes;
    padding.value = values;
  }
  PaddedCollate<T>::check(padding);
  return padding;
}
}  // namespace detail

}  // namespace penstock

#pragma GCC visibility pop
