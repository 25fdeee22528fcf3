// How the fields of structs and the parts of tuples are put together into columns, each by a builder of its own: what
// the Collates of batch(), padded_batch() and ragged_batch() share. Nothing here is meant to be called by users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <penstock/fields.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// What the builder of a field is told of what its struct's is told: the number of elements.
inline std::size_t for_field(std::size_t capacity, std::size_t) { return capacity; }

// What is put together one by one: a struct's fields, a tuple's parts.
template <class T> struct Parts {
  static constexpr std::size_t count = field_count<T>;
  template <std::size_t I> static auto& of(auto& value) { return value.*std::get<I>(Fields<T>::value); }
};
template <class... Part> struct Parts<std::tuple<Part...>> {
  static constexpr std::size_t count = sizeof...(Part);
  template <std::size_t I> static auto& of(auto& value) { return std::get<I>(value); }
};

// Has a builder for each part. `settings`: what the way to put them together needs to know.
template <class T, class Result, class Builders> class PartsBuilder {
 public:
  template <class... Settings>
  explicit PartsBuilder(std::size_t capacity, const Settings&... settings)
      : builders_(make(kAll, capacity, settings...)) {}
  void check(const T& value) const { check_parts(value, kAll); }
  void add(T value) {
    add_parts(value, kAll);
    ++count_;
  }
  Result finish() { return finish_parts(kAll); }

 private:
  static constexpr std::make_index_sequence<Parts<T>::count> kAll{};

  template <std::size_t I, class... Settings> static auto make_one(const Settings&... settings) {
    return std::tuple_element_t<I, Builders>(for_field(settings, I)...);
  }
  template <std::size_t... I, class... Settings>
  static Builders make(std::index_sequence<I...>, const Settings&... settings) {
    return Builders(make_one<I>(settings...)...);
  }
  template <std::size_t... I> void check_parts(const T& value, std::index_sequence<I...>) const {
    (std::get<I>(builders_).check(Parts<T>::template of<I>(value)), ...);
  }
  template <std::size_t... I> void add_parts(T& value, std::index_sequence<I...>) {
    (std::get<I>(builders_).add(std::move(Parts<T>::template of<I>(value))), ...);
  }
  template <std::size_t... I> Result finish_parts(std::index_sequence<I...>) {
    using Columns = std::tuple<decltype(std::get<I>(builders_).finish())...>;
    Columns columns{std::get<I>(builders_).finish()...};
    if constexpr (std::is_same_v<Result, Columns>)
      return columns;
    else
      return Result(std::move(columns), count_);
  }

  Builders builders_;
  std::int64_t count_ = 0;
};

// The Collate of tuples, for each way to put parts together.
template <class Tuple, template <class> class Together> struct CollateParts;
template <class... Part, template <class> class Together> struct CollateParts<std::tuple<Part...>, Together> {
  using Result = std::tuple<typename Together<Part>::Result...>;
  using Builder = PartsBuilder<std::tuple<Part...>, Result, std::tuple<typename Together<Part>::Builder...>>;
};

}  // namespace penstock::detail

#pragma GCC visibility pop
