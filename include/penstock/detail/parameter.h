// The type of a function's first parameter. Nothing here is meant to be called by users.
#pragma once

#include <type_traits>

#pragma GCC visibility push(default)

namespace penstock::detail {

template <class T> struct FirstParameter { using type = void; };
template <class C, class R, class P, class... A> struct FirstParameter<R (C::*)(P, A...) const> { using type = P; };
template <class C, class R, class P, class... A> struct FirstParameter<R (C::*)(P, A...) const noexcept> {
  using type = P;
};
template <class R, class P, class... A> struct FirstParameter<R (*)(P, A...)> { using type = P; };
template <class R, class P, class... A> struct FirstParameter<R (*)(P, A...) noexcept> { using type = P; };
template <class F> constexpr auto call_operator() {
  if constexpr (requires { &F::operator(); }) {
    return std::type_identity<decltype(&F::operator())>{};
  } else {
    return std::type_identity<F>{};
  }
}

// void for what is overloaded, generic, or callable only as non-const.
template <class F> using FirstParameterOf = typename FirstParameter<typename decltype(call_operator<F>())::type>::type;

}  // namespace penstock::detail

#pragma GCC visibility pop
