// How elements are put together into batches, and taken apart again.
//
//  batch of Tensor                    -> one Tensor of rank + 1, contiguous
//  batch of a struct with ps::Fields  -> Batch<Example>: one contiguous column per field
//  batch of std::tuple<A, B>          -> std::tuple<Batch<A>, Batch<B>>, of zip() and enumerate()
//  batch of any other struct          -> Rows<Example>: a std::vector<Example>
//  batch of anything else             -> std::vector<T>
//
// A type of your own can say otherwise by specialising Collate (together) and Unbatch (apart).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/bytes.h>
#include <penstock/detail/parts.h>
#include <penstock/detail/unavailable.h>
#include <penstock/error.h>
#include <penstock/fields.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock {

// A batch of structs without ps::Fields: their std::vector. Its own type, so that the compiler can say how to get
// columns.
template <class T> class Rows : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  Rows(std::vector<T> rows) noexcept : std::vector<T>(std::move(rows)) {}  // NOLINT: implicit

  template <auto Member>
  PENSTOCK_UNAVAILABLE(
      "column(): this struct has no columns, because penstock does not know its members: write a ps::Fields for it, "
      "right behind the struct: template <> struct ps::Fields<Example> { static constexpr auto value = "
      "std::tuple{&Example::image, &Example::label}; };")
  std::vector<int> column() const {
    return {};
  }
  template <auto Member>
  PENSTOCK_UNAVAILABLE(
      "tensor(): this struct has no columns, because penstock does not know its members: write a ps::Fields for it, "
      "right behind the struct: template <> struct ps::Fields<Example> { static constexpr auto value = "
      "std::tuple{&Example::image, &Example::label}; };")
  Tensor tensor() const {
    return {};
  }
};

namespace detail {
// A class that is no container, pointer or tuple: a struct of the user's, as a rule. (Of another class Rows are as
// good.)
template <class T>
concept MayHaveFields = std::is_class_v<T> && !requires {
  typename T::value_type;
}
&&!requires { typename T::element_type; }
&&!requires { std::tuple_size<T>::value; };
template <class T> using RowsOf = std::conditional_t<MayHaveFields<T>, Rows<T>, std::vector<T>>;

template <class T> struct Bytes<Rows<T>> {
  static constexpr bool known = Bytes<std::vector<T>>::known;
  static constexpr UnseenType unseen = Bytes<std::vector<T>>::unseen;
  static constexpr bool fixed = false;
  static std::size_t of(const Rows<T>& rows) { return Bytes<std::vector<T>>::of(rows); }
};
}  // namespace detail

// Customisation point of batch(). Result is the batch's type; a Builder collects at most `capacity` elements: check()
// throws Error(invalid_argument) for one that does not fit its neighbours (it is reported, the others stay); add()
// follows a check. If add() or finish() throws, the batch is lost, with one error in its place.
template <class T> struct Collate {
  using Result = detail::RowsOf<T>;
  class Builder {
   public:
    explicit Builder(std::size_t capacity) { rows_.reserve(std::min(capacity, kRowsAtOnce)); }
    void check(const T&) const {}
    void add(T value) { rows_.push_back(std::move(value)); }
    Result finish() { return std::move(rows_); }

   private:
    static constexpr std::size_t kRowsAtOnce = std::clamp<std::size_t>((std::size_t{1} << 20) / sizeof(T), 1, 4096);
    Result rows_;
  };
};

template <class T> using Batch = typename Collate<T>::Result;

// Whether batch() takes elements of this type: all but those for which Collate was specialised as empty, because a row
// of
// them makes no sense.   template <> struct ps::Collate<Session> {};
template <class T>
concept Batchable = requires {
  typename Collate<T>::Result;
  typename Collate<T>::Builder;
};

namespace detail {
class BatchBlock;
}

// A batch of tensors is a tensor. A row that was written into its place in the batch (Outputs, op.h) stays there;
// others are copied once, as they arrive, into memory for the whole batch.
template <> struct Collate<Tensor> {
  using Result = Tensor;
  class Builder {
   public:
    explicit Builder(std::size_t capacity) : capacity_(static_cast<std::int64_t>(capacity)) {}
    void check(const Tensor& row) const;
    void add(const Tensor& row);
    Result finish();

   private:
    void open(const Tensor& first);
    bool lies_in_place(const Tensor& row) const;
    void make_room(const Tensor& row);
    void move_to(Tensor larger);
    void report_drift(const Tensor& row) const;

    std::int64_t capacity_;
    std::int64_t count_ = 0;
    std::int64_t allocated_ = 0;
    Shape row_shape_;
    Tensor rows_;                                // its memory is the block's, where there is one
    std::shared_ptr<detail::BatchBlock> block_;  // in which rows were written before they came; null: none was
  };
};

namespace detail {
// Numbers that a tensor holds as they are; a bool is 0 or 1.
template <class V>
concept ColumnValue = std::is_same_v<V, bool> ||(TensorValue<V> && !std::is_same_v<V, std::uint16_t>);

// A column as a tensor.
template <class Column> struct ColumnTensor { static constexpr bool exists = false; };
template <> struct ColumnTensor<Tensor> {
  static constexpr bool exists = true;
  static Tensor of(const Tensor& column) { return column; }
};
template <class V>
requires ColumnValue<V>
struct ColumnTensor<std::vector<V>> {
  static constexpr bool exists = true;
  using Value = std::conditional_t<std::is_same_v<V, bool>, std::uint8_t, V>;
  static Tensor of(const std::vector<V>& column) {
    Tensor tensor(DTypeOf<Value>::type, {static_cast<std::int64_t>(column.size())});
    std::copy(column.begin(), column.end(), tensor.values<Value>().begin());
    return tensor;
  }
};
template <class V, std::size_t N>
requires(ColumnValue<V> && !std::is_same_v<V, bool>) struct ColumnTensor<std::vector<std::array<V, N>>> {
  static constexpr bool exists = true;
  static Tensor of(const std::vector<std::array<V, N>>& column) {
    Tensor tensor(DTypeOf<V>::type, {static_cast<std::int64_t>(column.size()), static_cast<std::int64_t>(N)});
    auto place = tensor.values<V>().begin();
    for (const auto& row : column) place = std::copy(row.begin(), row.end(), place);
    return tensor;
  }
};

template <class M> struct MemberType;
template <class Value, class Class> struct MemberType<Value Class::*> { using type = Value; };
template <auto Member> using TypeOfMember = typename MemberType<decltype(Member)>::type;
template <class T, auto Member>
concept ListsMember = field_index<T>(Member)
< field_count<T>;
}  // namespace detail

// A batch of structs: one column per field listed in Fields<T>. The column of a tensor is a tensor, that of a number a
// std::vector.
//
//   for (const ps::Batch<Example>& batch : train) step(batch.column<&Example::image>(),
//   batch.column<&Example::label>()); for (const ps::Batch<Example>& batch : train)
//   step(batch.tensor<&Example::image>(), batch.tensor<&Example::label>()); for (auto&& batch : train) {
//     auto& [images, labels] = batch.columns();       // all of them, in the order of Fields
//     step(images, labels);
//   }
//
// Together: how each field is put together, Collate by batch().
template <class T, template <class> class Together = Collate> class StructBatch {
  template <auto Member> using TensorOf = detail::ColumnTensor<typename Together<detail::TypeOfMember<Member>>::Result>;

 public:
  // The column of a field: Batch of the field's type, size() rows.
  template <auto Member>
  requires detail::ListsMember<T, Member>
  auto& column() noexcept { return std::get<index_of<Member>()>(columns_); }
  template <auto Member>
  requires detail::ListsMember<T, Member>
  const auto& column() const noexcept { return std::get<index_of<Member>()>(columns_); }
  std::int64_t size() const noexcept { return size_; }

  // The column as a Tensor of size() rows: of numbers (f32, f64, i32, i64, u8; bool as u8) shape [n], of arrays of them
  // [n, N]; values are copied. Of a column that is a tensor it is another handle of the same memory, and nothing is
  // copied.
  template <auto Member>
  requires(detail::ListsMember<T, Member>&& TensorOf<Member>::exists) Tensor tensor()
  const { return TensorOf<Member>::of(std::get<index_of<Member>()>(columns_)); }

  // What no method takes, so that the compiler can say why.
  template <auto Member>
  requires(!detail::ListsMember<T, Member>)
      PENSTOCK_UNAVAILABLE("column(): this member is not listed in ps::Fields<T>: add it to the std::tuple there")
  Tensor column() const { return {}; }
  template <auto Member>
  requires(!detail::ListsMember<T, Member>)
      PENSTOCK_UNAVAILABLE("tensor(): this member is not listed in ps::Fields<T>: add it to the std::tuple there")
  Tensor tensor() const { return {}; }
  template <auto Member>
  requires(detail::ListsMember<T, Member> && !TensorOf<Member>::exists) PENSTOCK_UNAVAILABLE(
      "tensor(): a tensor holds values of type float, double, std::int32_t, std::int64_t, std::uint8_t or bool, or "
      "std::arrays of them: use column<>(), or give the member another type")
  Tensor tensor() const { return {}; }

 private:
  template <class M> using FieldOf = detail::MemberType<M>;
  template <class Field> struct Column {
    static_assert(Batchable<Field>,
                  "batch(): a member listed in ps::Fields cannot be put together; give its type a ps::Collate, "
                  "or leave it out of ps::Fields");
    using type = typename Together<Field>::Result;
  };
  template <class... M>
  static auto columns_of(const std::tuple<M...>&) -> std::tuple<typename Column<typename FieldOf<M>::type>::type...>;
  template <class... M>
  static auto builders_of(const std::tuple<M...>&)
      -> std::tuple<typename Together<typename FieldOf<M>::type>::Builder...>;

  template <auto Member> static consteval std::size_t index_of() { return field_index<T>(Member); }

 public:
  using Columns = decltype(columns_of(Fields<T>::value));
  using Builders = decltype(builders_of(Fields<T>::value));
  StructBatch() = default;
  StructBatch(Columns columns, std::int64_t size) : columns_(std::move(columns)), size_(size) {}
  const Columns& columns() const noexcept { return columns_; }
  Columns& columns() noexcept { return columns_; }

 private:
  Columns columns_;
  std::int64_t size_ = 0;
};

namespace detail {
// The Collate of structs, for each way to put fields together.
template <class T, template <class> class Together> struct CollateFields {
  using Result = StructBatch<T, Together>;
  class Builder : public PartsBuilder<T, Result, typename Result::Builders> {
    using PartsBuilder<T, Result, typename Result::Builders>::PartsBuilder;
  };
};
}  // namespace detail

template <class T>
requires HasFields<T>
struct Collate<T> : detail::CollateFields<T, Collate> {
};

// One with a part that cannot be put together cannot, either.
template <class First, class... More> struct Collate<std::tuple<First, More...>> {};
template <class First, class... More>
requires(Batchable<First> && (Batchable<More> && ...)) struct Collate<std::tuple<First, More...>>
    : detail::CollateParts<std::tuple<First, More...>, Collate> {
};

namespace detail {
// A batch holds what its columns hold.
template <class T, template <class> class Together> struct Bytes<StructBatch<T, Together>> {
  using Columns = typename StructBatch<T, Together>::Columns;
  static constexpr bool known = Bytes<Columns>::known;
  static constexpr UnseenType unseen = Bytes<Columns>::unseen;
  static constexpr bool fixed = false;
  static std::size_t of(const StructBatch<T, Together>& batch) { return Bytes<Columns>::of(batch.columns()); }
};

[[noreturn]] void fail_unequal_columns(std::size_t first, std::size_t component, std::size_t size);
}  // namespace detail

// Customisation point of unbatch(): `value_type` and `std::vector<value_type> apart(T)`.
template <class T> struct Unbatch {};

template <class U, class A> struct Unbatch<std::vector<U, A>> {
  using value_type = U;
  static std::vector<U> apart(std::vector<U, A> rows) {
    return {std::move_iterator(rows.begin()), std::move_iterator(rows.end())};
  }
};

template <class U> struct Unbatch<std::vector<U>> {
  using value_type = U;
  static std::vector<U> apart(std::vector<U> rows) { return rows; }
};

template <class U> struct Unbatch<Rows<U>> {
  using value_type = U;
  static std::vector<U> apart(Rows<U> rows) { return std::vector<U>(std::move(rows)); }
};

// Rows are views of the batch's memory: nothing is copied.
template <> struct Unbatch<Tensor> {
  using value_type = Tensor;
  static std::vector<Tensor> apart(const Tensor& batch);
};

namespace detail {
// Whether the rows of a column are what the field is.
template <class Column, class Field> inline constexpr bool comes_apart = false;
template <class Column, class Field>
requires std::is_same_v<typename Unbatch<Column>::value_type, Field>
inline constexpr bool comes_apart<Column, Field> = true;
template <class T, class Columns, class Index = std::make_index_sequence<std::tuple_size_v<Columns>>>
inline constexpr bool come_apart = false;
template <class T, class Columns, std::size_t... I>
inline constexpr bool come_apart<T, Columns, std::index_sequence<I...>> =
    (comes_apart<std::tuple_element_t<I, Columns>, FieldType<T, I>> && ...);
}  // namespace detail

template <class T, template <class> class Together>
requires detail::come_apart<T, typename StructBatch<T, Together>::Columns>
struct Unbatch<StructBatch<T, Together>> {
  using value_type = T;
  // Error(invalid_argument) in tf.data's words if the columns differ in length.
  static std::vector<T> apart(StructBatch<T, Together> batch) {
    std::vector<T> rows;
    fill(rows, batch.columns(), std::make_index_sequence<std::tuple_size_v<Columns>>{});
    return rows;
  }

 private:
  using Columns = typename StructBatch<T, Together>::Columns;
  template <std::size_t... I> static void fill(std::vector<T>& rows, Columns& columns, std::index_sequence<I...>) {
    (fill_column<I>(rows, std::get<I>(columns)), ...);
  }
  template <std::size_t I, class Column> static void fill_column(std::vector<T>& rows, Column& column) {
    auto values = Unbatch<Column>::apart(std::move(column));
    if (I == 0) rows.resize(values.size());
    if (values.size() != rows.size()) detail::fail_unequal_columns(rows.size(), I, values.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*std::get<I>(Fields<T>::value) = std::move(values[i]);
  }
};

template <class T>
concept Unbatchable = requires {
  typename Unbatch<T>::value_type;
};

template <class First, class... More>
requires(Unbatchable<First> && (Unbatchable<More> && ...)) struct Unbatch<std::tuple<First, More...>> {
  using value_type = std::tuple<typename Unbatch<First>::value_type, typename Unbatch<More>::value_type...>;
  // Error(invalid_argument) in tf.data's words if the parts differ in length.
  static std::vector<value_type> apart(std::tuple<First, More...> batch) {
    return std::apply(
        [](auto&... part) { return join(Unbatch<std::remove_cvref_t<decltype(part)>>::apart(std::move(part))...); },
        batch);
  }

 private:
  template <class FirstPart, class... OtherParts>
  static std::vector<value_type> join(FirstPart first, OtherParts... others) {
    std::size_t component = 0;
    const auto check = [&](std::size_t size) {
      ++component;
      if (size != first.size()) detail::fail_unequal_columns(first.size(), component, size);
    };
    (check(others.size()), ...);
    std::vector<value_type> rows;
    rows.reserve(first.size());
    for (std::size_t i = 0; i < first.size(); ++i) rows.emplace_back(std::move(first[i]), std::move(others[i])...);
    return rows;
  }
};

}  // namespace penstock

#pragma GCC visibility pop
