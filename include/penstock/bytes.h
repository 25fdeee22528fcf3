// bytes_of: how much memory a value holds, which is what memory budgets count.
//
//   std::size_t held = ps::bytes_of(example);
//
// Known by themselves: arithmetic types and enums; std::string; Tensor; std::vector, array, pair,
// tuple and optional of known types; types with Fields (fields.h), as the sum of their fields. A
// Tensor or a vector counts its values, not its own handle of some dozen bytes; a string counts the
// block that it has on the heap, in full; shared values are counted by every holder.
//
// For a type of your own, put a function of the same name beside it:
//
//   namespace mine {
//   struct Clip { int frames; std::unique_ptr<float[]> samples; std::size_t length; };
//   std::size_t bytes_of(const Clip& clip) { return sizeof(Clip) + clip.length * sizeof(float); }
//   }
//
// Known, too, is what is copied byte by byte (std::is_trivially_copyable) and no pointer: it owns nothing.
// Any other type counts sizeof(T), and bytes_known<T> is false. Counting does not throw, may be done
// from any thread, and costs O(1) for tensors, strings and vectors of arithmetic types, otherwise one
// step per contained value.
#pragma once

#include <penstock/fields.h>
#include <penstock/tensor.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {
namespace detail {

namespace bytes_adl {
// Hides every other bytes_of, so that only argument-dependent lookup finds the user's.
void bytes_of() = delete;

template <class T>
concept HasOwn = requires(const T& value) {
  { bytes_of(value) } -> std::convertible_to<std::size_t>;
};

template <HasOwn T> constexpr std::size_t call(const T& value) { return static_cast<std::size_t>(bytes_of(value)); }
}  // namespace bytes_adl

// Bytes<T>: `known` as in bytes_known, `fixed` as in has_fixed_bytes, of(value) the count; `unseen` the
// first type in it that is not known, null if all are.
template <class T> struct Bytes;

using UnseenType = const std::type_info*;

// A value of which nothing but its size is known.
template <class T, bool OwnsNothing> struct PlainBytes {
  static constexpr bool known = OwnsNothing;
  static constexpr bool fixed = OwnsNothing;
  static constexpr UnseenType unseen = OwnsNothing ? nullptr : &typeid(T);
  static constexpr std::size_t of(const T&) noexcept { return sizeof(T); }
};

// A value that is the sum of parts: sizeof where all of them are fixed, which counts padding too.
template <class T, class... Part> struct SumBytes {
  static constexpr bool known = (Bytes<Part>::known && ...);
  static constexpr bool fixed = (Bytes<Part>::fixed && ...);
  static constexpr UnseenType unseen = [] {
    UnseenType found = nullptr;
    static_cast<void>(((Bytes<Part>::known ? false : (found = Bytes<Part>::unseen, true)) || ...));
    return found;
  }();
  template <class... Value> static constexpr std::size_t sum(const Value&... value) {
    if constexpr (fixed) return sizeof(T);
    return (std::size_t{0} + ... + Bytes<Value>::of(value));
  }
};

template <class T> struct OwnBytes {
  static constexpr bool known = true;
  static constexpr bool fixed = false;
  static constexpr UnseenType unseen = nullptr;
  static constexpr std::size_t of(const T& value) { return bytes_adl::call(value); }
};

template <class T, class Index = std::make_index_sequence<field_count<T>>> struct FieldBytes;
template <class T, std::size_t... I> struct FieldBytes<T, std::index_sequence<I...>> : SumBytes<T, FieldType<T, I>...> {
  static constexpr std::size_t of(const T& value) { return SumBytes<T, FieldType<T, I>...>::sum(field<I>(value)...); }
};

// A type that owns memory must free it when it is destroyed; but a pointer may be somebody's only hold of it.
template <class T>
inline constexpr bool owns_nothing =
    std::is_trivially_copyable_v<T>&& std::is_trivially_destructible_v<T> && !std::is_pointer_v<T>;

template <class T> constexpr auto choose_bytes() {
  if constexpr (bytes_adl::HasOwn<T>)
    return std::type_identity<OwnBytes<T>>{};
  else if constexpr (HasFields<T>)
    return std::type_identity<FieldBytes<T>>{};
  else
    return std::type_identity<PlainBytes<T, owns_nothing<T>>>{};
}

template <class T> struct Bytes : decltype(choose_bytes<T>())::type {};

// What a block of so many bytes takes of the heap: glibc's malloc keeps a word beside each, and rounds
// up to 16 (mallopt's documentation calls it a chunk). A short string is a fifth of that.
constexpr std::size_t heap_block(std::size_t bytes) noexcept { return (bytes + 8 + 15) / 16 * 16; }

template <> struct Bytes<std::string> {
  static constexpr bool known = true;
  static constexpr bool fixed = false;
  static constexpr UnseenType unseen = nullptr;
  static std::size_t of(const std::string& text) noexcept {
    const bool inside = text.capacity() <= std::string().capacity();
    return sizeof(std::string) + (inside ? 0 : heap_block(text.capacity() + 1));
  }
};

template <> struct Bytes<Tensor> {
  static constexpr bool known = true;
  static constexpr bool fixed = false;
  static constexpr UnseenType unseen = nullptr;
  static std::size_t of(const Tensor& tensor) noexcept { return tensor.bytes(); }
};

template <class T> struct Bytes<std::vector<T>> {
  static constexpr bool known = Bytes<T>::known;
  static constexpr bool fixed = false;
  static constexpr UnseenType unseen = Bytes<T>::unseen;
  static constexpr std::size_t of(const std::vector<T>& values) {
    if constexpr (std::is_same_v<T, bool>) return values.capacity() / 8;
    if constexpr (Bytes<T>::fixed) return values.capacity() * sizeof(T);
    std::size_t sum = (values.capacity() - values.size()) * sizeof(T);
    for (const auto& value : values) sum += Bytes<T>::of(value);
    return sum;
  }
};

template <class T, std::size_t N> struct Bytes<std::array<T, N>> {
  static constexpr bool known = Bytes<T>::known;
  static constexpr bool fixed = Bytes<T>::fixed;
  static constexpr UnseenType unseen = Bytes<T>::unseen;
  static constexpr std::size_t of(const std::array<T, N>& values) {
    if constexpr (fixed) return sizeof(values);
    std::size_t sum = 0;
    for (const T& value : values) sum += Bytes<T>::of(value);
    return sum;
  }
};

template <class T> struct Bytes<std::optional<T>> {
  static constexpr bool known = Bytes<T>::known;
  static constexpr bool fixed = false;
  static constexpr UnseenType unseen = Bytes<T>::unseen;
  static constexpr std::size_t of(const std::optional<T>& value) { return value ? Bytes<T>::of(*value) : 0; }
};

template <class A, class B> struct Bytes<std::pair<A, B>> : SumBytes<std::pair<A, B>, A, B> {
  static constexpr std::size_t of(const std::pair<A, B>& value) {
    return SumBytes<std::pair<A, B>, A, B>::sum(value.first, value.second);
  }
};

template <class... T> struct Bytes<std::tuple<T...>> : SumBytes<std::tuple<T...>, T...> {
  static constexpr std::size_t of(const std::tuple<T...>& values) {
    return std::apply([](const T&... value) { return SumBytes<std::tuple<T...>, T...>::sum(value...); }, values);
  }
};

struct BytesOf {
  template <class T> constexpr std::size_t operator()(const T& value) const { return Bytes<T>::of(value); }
};

}  // namespace detail

// In a namespace of its own, so that classes of penstock too can have a friend function bytes_of.
inline namespace customisation {

// Bytes that a value holds; see the top of this file.
inline constexpr detail::BytesOf bytes_of{};

}  // namespace customisation

// bytes_of(T) counts everything, and is not only sizeof(T).
template <class T> inline constexpr bool bytes_known = detail::Bytes<std::remove_cvref_t<T>>::known;

// Every T holds exactly sizeof(T) bytes: arithmetic types, enums, what is copied byte by byte, and arrays, pairs,
// tuples and structs with Fields of those.
template <class T> inline constexpr bool has_fixed_bytes = detail::Bytes<std::remove_cvref_t<T>>::fixed;

}  // namespace penstock

#pragma GCC visibility pop
