// A flat_map whose function gives a Dataset, or a list, for each element. Nothing here is meant to be called by users.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/functions.h>
#include <penstock/detail/refused.h>
#include <penstock/graph.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// Runs the dataset serially, as part of the epoch and pass of the call, and gives all its elements, and its errors in
// their places; null if the call became unwanted meanwhile. They count as the call's memory while they are collected,
// in steps: if a step finds no room the call is broken off, to be tried again later. Error(resource_exhausted) where
// they are more than the run's budget (or 1 MiB, if that is more), and at once where that can be foretold. What the run
// cannot begin for is thrown, too.
std::unique_ptr<Results> results_of(const graph::NodeRef& inner, Context& context);

template <class F, class T> class InnerFunction final : public CopiedFunction<InnerFunction<F, T>, F> {
 public:
  explicit InnerFunction(F function) : call_(std::move(function)) {}
  bool callable_in_parallel() const noexcept override { return Call::is_const; }

  void run(std::span<Slot> slots, Context& context) const override {
    // a second call of one with a state gives something else
    const bool may_retry = keeps_input && Call::is_const && slots.size() == 1;
    for_each_slot(slots, context, may_retry, [&](Slot& slot) {
      auto results = results_of(inner_of(slot, context), context);
      if (results) {
        slot.emit_many(std::move(results));
      } else {
        slot.drop();
      }
    });
  }

 private:
  using First = FirstParameterOf<F>;
  // Of one that takes its element by value a copy is given, so that the call can be tried again.
  static constexpr bool takes_copy = std::is_same_v<First, T> && std::copy_constructible<T>;
  static constexpr bool keeps_input = takes_const_reference<F, T> || takes_copy;
  using Call = Caller<F, std::conditional_t<keeps_input, const T&, T>>;

  graph::NodeRef inner_of(Slot& slot, Context& context) const {
    if constexpr (keeps_input) {
      return call_(std::as_const(slot.value).template get<T>(), context).node();
    } else {
      return call_(std::move(slot.value.template get<T>()), context).node();
    }
  }

  Call call_;
};

// The function of interleave: makes each element a dataset, as its last node.
template <class F, class T> class DatasetFunction final : public CopiedFunction<DatasetFunction<F, T>, F> {
 public:
  explicit DatasetFunction(F function) : call_(std::move(function)) {}
  bool callable_in_parallel() const noexcept override { return Caller<F, T>::is_const; }
  std::size_t result_bytes() const noexcept override { return has_fixed_bytes<U> ? sizeof(U) : 0; }

  void run(std::span<Slot> slots, Context& context) const override {
    for_each_slot(slots, context, false, [&](Slot& slot) {
      slot.emit(Element(call_(std::move(slot.value.template unchecked<T>()), context).node()));
    });
  }

 private:
  using U = typename Result<F, T>::value_type;
  Caller<F, T> call_;
};

// What flat_map's function may return: a Dataset<U> or anything that Unbatch takes apart.
template <class R> struct Flatten {
  using value_type = typename Unbatch<R>::value_type;
  static std::vector<value_type> apart(R rows) { return Unbatch<R>::apart(std::move(rows)); }
};
template <class U> struct Flatten<Dataset<U>> { using value_type = U; };
template <class F, class T>
using FlatMapFunction =
    std::conditional_t<IsDataset<Result<F, T>>::value, InnerFunction<F, T>,
                       ManyFunction<F, T, typename Flatten<Result<F, T>>::value_type, Flatten<Result<F, T>>>>;

}  // namespace penstock::detail

#pragma GCC visibility pop
