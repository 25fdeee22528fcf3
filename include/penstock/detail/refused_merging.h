// What the compiler says of merges that cannot be: see refused.h. Nothing here is meant to be called by users.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include <penstock/dataset.h>

#pragma GCC visibility push(default)

namespace penstock {

namespace detail {
template <class Into, class... T>
concept MadeOf = requires(T&&... part) {
  Into{std::move(part)...};
};
}  // namespace detail

template <class Into, class A, class... More>
requires(!detail::MadeOf<Into, A, More...>) PENSTOCK_UNAVAILABLE(
    "zip<Example>(): Example{a, b} must make one of an element of each dataset, in this order; a number must fit as it "
    "is: map() to the member's type before")
Dataset<Into> zip(const Dataset<A>&, const Dataset<More>&...) { return Dataset<Into>(nullptr); }
template <class A>
PENSTOCK_UNAVAILABLE(
    "zip(): two to four datasets go together: zip(a, b); a list of datasets is read by concatenate(), "
    "sample_from() or choose_from()")
Dataset<A> zip(const Dataset<A>& a) {
  return a;
}
template <class A, class B, class C, class D, class E, class... More>
PENSTOCK_UNAVAILABLE(
    "zip(): two to four datasets go together: put some of them together before, as in zip(zip(a, b, "
    "c, d), e)")
Dataset<A> zip(const Dataset<A>& a, const Dataset<B>&, const Dataset<C>&, const Dataset<D>&, const Dataset<E>&,
               const More&...) {
  return a;
}

template <class A, class B, class... More>
PENSTOCK_UNAVAILABLE(
    "concatenate(): datasets stand in a list, and have one element type: write "
    "concatenate(std::vector{a, b}), or a.concatenate(b)")
Dataset<A> concatenate(const Dataset<A>& a, const Dataset<B>&, const More&...) {
  return a;
}
#define PENSTOCK_SAMPLE_WITHOUT_LIST                                               \
  PENSTOCK_UNAVAILABLE(                                                            \
      "sample_from(): datasets stand in a list, and have one element type: write " \
      "sample_from(std::vector{a, b}, {.weights = {0.7, 0.3}, .seed = 1})")
template <class A, class B>
PENSTOCK_SAMPLE_WITHOUT_LIST Dataset<A> sample_from(const Dataset<A>& a, const Dataset<B>&, const SampleOptions& = {}) {
  return a;
}
template <class A, class B, class C, class... More>
PENSTOCK_SAMPLE_WITHOUT_LIST Dataset<A> sample_from(const Dataset<A>& a, const Dataset<B>&, const Dataset<C>&,
                                                    const More&...) {
  return a;
}
#undef PENSTOCK_SAMPLE_WITHOUT_LIST
// A type of its own: no list in braces may fit.
template <class A, class Weights>
requires(std::same_as<Weights, std::vector<double>>)
    PENSTOCK_UNAVAILABLE("sample_from(): options stand in braces, by their names: {.weights = {0.7, 0.3}, .seed = 1}")
Dataset<A> sample_from(const std::vector<Dataset<A>>& datasets, const Weights&) { return datasets.front(); }
template <class A, class Choice>
requires(!std::same_as<Choice, std::int64_t>) PENSTOCK_UNAVAILABLE(
    "choose_from(): the choice must be a Dataset<std::int64_t>: map() it to the numbers of the datasets, from 0 on")
Dataset<A> choose_from(const std::vector<Dataset<A>>& datasets, const Dataset<Choice>&) { return datasets.front(); }

}  // namespace penstock

#pragma GCC visibility pop
