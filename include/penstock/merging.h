// Datasets made of several.
//
//   auto pairs = ps::zip(pictures, captions).shuffle(1000, {.seed = 7}).prefetch();
//   auto mixed = ps::sample_from({web, books}, {.weights = {0.7, 0.3}, .seed = 1});
//
// Each dataset given is run for itself, with parallelism and buffers of its own, all of them at once, and under one
// memory budget. A dataset that is given twice is run twice: its functions are called twice for each element. Two uses
// of one shuffle give the same order. Which dataset an element comes from never depends on which is quicker.
//
// Lists and ranges are another matter (range, from_vector, from_file_list, list_files, counter and random where zip has
// a list beside them; with shard, shuffle, take, skip behind them). Of these alone zip, concatenate, sample_from,
// choose_from and Dataset::enumerate are arithmetic on positions: nothing is run for itself or read ahead, and a
// shuffle, shard or skip behind them, or a resumed run, does not touch what it leaves out. Elements and their order are
// the same as otherwise, but a shuffle behind them is one of positions, and Context::rng draws other numbers behind
// concatenate, sample_from and choose_from. Errors count elements over all lists there. For zip and enumerate no list
// may be shuffled before; for sample_from and choose_from none may end the pass (stop_on_empty), and the choice may be
// no error, not shuffled and of at most 2^20 elements: they are counted when a run begins. Sources of your own are read
// as any other dataset.
//
// A repeat behind them repeats all of them. If one has more than is wanted, it is stopped where that is known. What
// comes from different datasets draws different random numbers (Context::rng).
//
// Functions that wait for what others give back, as buffers of a pool, need a pool for each dataset: one that is read
// ahead may hold all buffers for which the one that is wanted waits.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include <penstock/dataset.h>
#include <penstock/detail/refused_merging.h>

#pragma GCC visibility push(default)

namespace penstock {

namespace detail {

template <class T> std::vector<graph::NodeRef> nodes_of(const std::vector<Dataset<T>>& datasets) {
  std::vector<graph::NodeRef> nodes;
  for (const Dataset<T>& dataset : datasets) nodes.push_back(dataset.node());
  return nodes;
}

// An op, and the line that it is given in: behind a list of any length there is no place for a call site.
struct OpAtSite {
  template <class Op>
  requires std::convertible_to<Op, OpRef> OpAtSite(Op&& given, CallSite here = CallSite::here())
      : op(std::forward<Op>(given)), site(here) {}

  OpRef op;
  CallSite site;
};

template <class Into, class... T> Dataset<Into> zip_into(CallSite site, const Dataset<T>&... datasets) {
  return Dataset<Into>(graph::build(std::vector<graph::NodeRef>{datasets.node()...}, "zip", site,
                                    [] { return ops::zip(std::make_shared<TypedTupleMaker<Into, T...>>()); }));
}

}  // namespace detail

// The first elements of all datasets together, then the second ones, and so on. Ends with the shortest. An error takes
// the place of its whole position: of several, that of the first dataset that has one.
//   auto pairs = ps::zip(ps::range(3), ps::range(10, 20));  // (0, 10) (1, 11) (2, 12)
//   auto sums = pairs.map([](std::int64_t a, std::int64_t b) { return a + b; });
//   for (auto&& [firsts, seconds] : pairs.batch(2)) step(firsts, seconds);
// Random numbers and errors behind it are those of the first dataset's element. 0.15 us an element. (The nullptr keeps
// zip<A>(a, b) for the other form, also where A is the type of a's elements.)
template <std::nullptr_t = nullptr, class A, class B>
Dataset<std::tuple<A, B>> zip(const Dataset<A>& a, const Dataset<B>& b, CallSite site = CallSite::here()) {
  return detail::zip_into<std::tuple<A, B>>(site, a, b);
}
template <std::nullptr_t = nullptr, class A, class B, class C>
Dataset<std::tuple<A, B, C>> zip(const Dataset<A>& a, const Dataset<B>& b, const Dataset<C>& c,
                                 CallSite site = CallSite::here()) {
  return detail::zip_into<std::tuple<A, B, C>>(site, a, b, c);
}
template <std::nullptr_t = nullptr, class A, class B, class C, class D>
Dataset<std::tuple<A, B, C, D>> zip(const Dataset<A>& a, const Dataset<B>& b, const Dataset<C>& c, const Dataset<D>& d,
                                    CallSite site = CallSite::here()) {
  return detail::zip_into<std::tuple<A, B, C, D>>(site, a, b, c, d);
}

// The same, as a struct of your own whose members are of these types, in this order, as
// struct Captioned { ps::Tensor picture; std::string caption; }.
//   auto captioned = ps::zip<Captioned>(pictures, captions);
template <class Into, class A, class B>
requires detail::MadeOf<Into, A, B> Dataset<Into> zip(const Dataset<A>& a, const Dataset<B>& b,
                                                      CallSite site = CallSite::here()) {
  return detail::zip_into<Into>(site, a, b);
}
template <class Into, class A, class B, class C>
requires detail::MadeOf<Into, A, B, C> Dataset<Into> zip(const Dataset<A>& a, const Dataset<B>& b, const Dataset<C>& c,
                                                         CallSite site = CallSite::here()) {
  return detail::zip_into<Into>(site, a, b, c);
}
template <class Into, class A, class B, class C, class D>
requires detail::MadeOf<Into, A, B, C, D> Dataset<Into> zip(const Dataset<A>& a, const Dataset<B>& b,
                                                            const Dataset<C>& c, const Dataset<D>& d,
                                                            CallSite site = CallSite::here()) {
  return detail::zip_into<Into>(site, a, b, c, d);
}

// All elements of the first dataset, then all of the second one, and so on. GraphError for an empty list.
//   ps::concatenate({ps::range(2), ps::range(5, 7)})  ->  0 1 5 6
// While one is read, the next one is read ahead. See also Dataset::concatenate.
template <class T> Dataset<T> concatenate(const std::vector<Dataset<T>>& datasets, CallSite site = CallSite::here()) {
  return Dataset<T>(graph::build(detail::nodes_of(datasets), "concatenate", site, [] { return ops::concatenate(); }));
}

template <class T>
Dataset<T> concatenate(std::initializer_list<Dataset<T>> datasets, CallSite site = CallSite::here()) {
  return concatenate(std::vector<Dataset<T>>(datasets), site);
}

// Each time the next element of a dataset that is drawn at random, until all have ended. GraphError for an empty list,
// and for weights that are none.
//   auto mixed = ps::sample_from({web, books}, {.weights = {0.7, 0.3}, .seed = 1});
// Draw k depends on the seed, k, and which datasets have ended, for it is made among the others: each pass makes the
// same draws, unless they are to differ (SampleOptions::rerandomize_each_epoch). An error of a dataset counts as its
// element. All datasets are read ahead.
template <class T>
Dataset<T> sample_from(const std::vector<Dataset<T>>& datasets, const SampleOptions& options = {},
                       CallSite site = CallSite::here()) {
  return Dataset<T>(graph::build(detail::nodes_of(datasets), "sample_from", site,
                                 [&] { return ops::sample_from(datasets.size(), options); }));
}

template <class T>
Dataset<T> sample_from(std::initializer_list<Dataset<T>> datasets, const SampleOptions& options = {},
                       CallSite site = CallSite::here()) {
  return sample_from(std::vector<Dataset<T>>(datasets), options, site);
}

// Each time the next element of the dataset that `choice` says: 0 is the first one. Ends with the choice, or when
// all datasets were found to have no more. Another number is an error in its place, and an error of the choice passes
// on; both let the run go on behind them. A choice of a dataset that has no more is passed over (ChooseOptions).
//   ps::choose_from({ps::range(3), ps::range(5, 8)}, ps::range(2).repeat(2))  ->  0 5 1 6
template <class T>
Dataset<T> choose_from(const std::vector<Dataset<T>>& datasets, const Dataset<std::int64_t>& choice,
                       const ChooseOptions& options = {}, CallSite site = CallSite::here()) {
  auto inputs = detail::nodes_of(datasets);
  inputs.push_back(choice.node());
  return Dataset<T>(
      graph::build(inputs, "choose_from", site, [&] { return ops::choose_from(datasets.size(), options); }));
}

template <class T>
Dataset<T> choose_from(std::initializer_list<Dataset<T>> datasets, const Dataset<std::int64_t>& choice,
                       const ChooseOptions& options = {}, CallSite site = CallSite::here()) {
  return choose_from(std::vector<Dataset<T>>(datasets), choice, options, site);
}

// A merging op of your own (MergeOp, op.h). U: the type of what it gives; a value of another type becomes an error
// element. It must know the types of its inputs: elements are untyped there. GraphError for a null pointer.
//   auto merged = ps::merge<std::string>(std::make_shared<InTurn>(), web, books);
template <class U, class First, class... More>
Dataset<U> merge(detail::OpAtSite op, const Dataset<First>& first, const Dataset<More>&... more) {
  const std::vector<graph::NodeRef> inputs{first.node(), more.node()...};
  if (!op.op)
    graph::fail(inputs, "merge", op.site,
                "the op is a null pointer; give it one, as in merge<Out>(std::make_shared<MyOp>(), a, b)");
  return Dataset<U>(graph::append(inputs, std::move(op.op), op.site, &typeid(U)));
}

}  // namespace penstock

#pragma GCC visibility pop
