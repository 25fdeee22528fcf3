// Fields: tells penstock which members a struct has. C++20 cannot list them by itself.
//
// A struct with Fields gets, without further code: a contiguous Batch with one column per member,
// and exact byte counts (bytes.h). Specialise it at namespace scope, right after the struct, before
// its first use in a pipeline:
//
//   struct Example { ps::Tensor image; std::int32_t label; };
//   template <> struct ps::Fields<Example> {
//     static constexpr auto value = std::tuple{&Example::image, &Example::label};
//   };
//
// The order of the tuple is the order of the columns. Members that are not listed are ignored: they
// are neither batched nor counted. Members of base classes may be listed. Everything here works
// at compile time and costs what the plain member accesses cost.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)

namespace penstock {

// Left undefined: a type without a specialisation has no fields. The compiler shows the next line to who specialises it
// elsewhere.
template <class T>
struct
    Fields;  // specialise it outside of all namespaces, behind the struct: template <> struct ps::Fields<mine::Example> { ... };

// T, whatever its const and reference, has a Fields specialisation.
template <class T>
concept HasFields = requires {
  Fields<std::remove_cvref_t<T>>::value;
};

namespace detail {

template <class T, class Tuple> inline constexpr bool is_member_list = false;
template <class T, class... M>
inline constexpr bool is_member_list<T, std::tuple<M...>> = ((std::is_member_object_pointer_v<M> &&
                                                              std::is_invocable_v<M, T&>)&&...);

template <class T> constexpr const auto& fields_of() {
  using Tuple = std::remove_cvref_t<decltype(Fields<T>::value)>;
  static_assert(is_member_list<T, Tuple>, "Fields<T>::value must be a std::tuple of pointers to data members of T");
  return Fields<T>::value;
}

// Pointers to members of different types cannot be compared, and are never the same member.
template <class A, class B> constexpr bool same_member(A a, B b) {
  if constexpr (std::is_same_v<A, B>) return a == b;
  return false;
}

}  // namespace detail

// How many fields T has.
template <HasFields T>
inline constexpr std::size_t field_count =
    std::tuple_size_v<std::remove_cvref_t<decltype(detail::fields_of<std::remove_cvref_t<T>>())>>;

// The type of field I of T, without const or reference.
template <HasFields T, std::size_t I>
using FieldType = std::remove_cvref_t<
    std::invoke_result_t<std::tuple_element_t<I, std::remove_cvref_t<decltype(Fields<std::remove_cvref_t<T>>::value)>>,
                         std::remove_cvref_t<T>&>>;

// Field I of an object, as an lvalue with the object's constness.
//
//   ps::Tensor& image = ps::field<0>(example);  // example.image
template <std::size_t I, HasFields T> constexpr auto& field(T& object) {
  return std::invoke(std::get<I>(detail::fields_of<std::remove_cvref_t<T>>()), object);
}

// Calls f(member) for each field in order. Members are lvalues: f decides whether to move from them.
//
//   std::size_t bytes = 0;
//   ps::for_each_field(example, [&](const auto& member) { bytes += ps::bytes_of(member); });
template <HasFields T, class F> constexpr void for_each_field(T& object, F&& f) {
  std::apply([&](auto... member) { (static_cast<void>(f(std::invoke(member, object))), ...); },
             detail::fields_of<std::remove_cvref_t<T>>());
}

// Calls f(a.member, b.member) for each field in order: comparing, copying, moving from one to another.
template <HasFields T, class U, class F>
requires std::is_same_v<std::remove_const_t<T>, std::remove_const_t<U>>
constexpr void for_each_field(T& a, U& b, F&& f) {
  const auto each = [&](auto... member) {
    (static_cast<void>(f(std::invoke(member, a), std::invoke(member, b))), ...);
  };
  std::apply(each, detail::fields_of<std::remove_cvref_t<T>>());
}

// Calls f(std::integral_constant<std::size_t, I>) for each field: for code that needs FieldType<T, I>.
//
//   std::vector<std::string> types;
//   ps::for_each_field_index<Example>([&](auto i) { types.push_back(typeid(ps::FieldType<Example, i>).name()); });
template <HasFields T, class F> constexpr void for_each_field_index(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (static_cast<void>(f(std::integral_constant<std::size_t, I>{})), ...);
  }
  (std::make_index_sequence<field_count<T>>{});
}

// Place of a member among the fields of T; field_count<T> if it is not one of them.
//
//   static_assert(ps::field_index<Example>(&Example::label) == 1);
template <HasFields T, class M> constexpr std::size_t field_index(M wanted) {
  std::size_t found = field_count<T>;
  for_each_field_index<T>([&](auto i) {
    const bool same = detail::same_member(std::get<i>(detail::fields_of<T>()), wanted);
    if (same && found == field_count<T>) found = i;
  });
  return found;
}

namespace detail {
// "tokens" of &Example::tokens, as the compiler writes it; "" where it writes something else.
template <auto Member> constexpr std::string_view member_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t at = text.find("Member = &");
  if (at == text.npos) return {};
  text = text.substr(at, text.find_first_of(";]", at) - at);
  return text.substr(text.rfind(':') + 1);
}
}  // namespace detail

// The member that field I of T is, for texts: "tokens"; "" if the compiler does not tell.
//
//   ps::field_name<Example, 1>()  ->  "label"
template <HasFields T, std::size_t I> constexpr std::string_view field_name() {
  return detail::member_name<std::get<I>(detail::fields_of<T>())>();
}

}  // namespace penstock

#pragma GCC visibility pop
