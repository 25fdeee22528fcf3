// An interleave or a flat_map whose function gives a Dataset, or a generator, for each element; and a flat_map whose
// function gives a list; unbatch. Nothing here is meant to be called by users.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/functions.h>
#include <penstock/detail/generator.h>
#include <penstock/detail/made.h>
#include <penstock/detail/refused.h>
#include <penstock/graph.h>
#include <penstock/ops.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// What is opened for an element, of what the function has given.
template <class R> struct ElementsOf {};
template <class U> struct ElementsOf<Dataset<U>> {
  using value_type = U;
  static graph::NodeRef node(const Dataset<U>& dataset) { return dataset.node(); }
};
template <Generator G> struct ElementsOf<G> {
  using value_type = Generated<G>;
  static graph::NodeRef node(G generator) {
    return graph::build(nullptr, "generator", CallSite(), [&] {
      return ops::generator(made_shared<GeneratorFactory, ReadOnce<G>>(std::move(generator)));
    });
  }
};

// Makes each element a dataset, as its last node.
template <class F, class T> class DatasetFunction final : public CopiedFunction<DatasetFunction<F, T>, F> {
 public:
  explicit DatasetFunction(F function) : call_(std::move(function)) {}
  bool callable_in_parallel() const noexcept override { return Caller<F, T>::is_const; }
  std::size_t result_bytes() const noexcept override { return has_fixed_bytes<U> ? sizeof(U) : 0; }

  void run(std::span<Slot> slots, Context& context) const override {
    for_each_slot(slots, context, false, [&](Slot& slot) {
      slot.emit(Element(Opens::node(call_(std::move(slot.value.template unchecked<T>()), context))));
    });
  }

 private:
  using Opens = ElementsOf<Result<F, T>>;
  using U = typename Opens::value_type;
  Caller<F, T> call_;
};

// What flat_map's function may return: what is opened, or anything that Unbatch takes apart.
template <class R> struct Flatten {
  using value_type = typename Unbatch<R>::value_type;
  static std::vector<value_type> apart(R rows) { return Unbatch<R>::apart(std::move(rows)); }
};
template <GivesElements R> struct Flatten<R> { using value_type = typename ElementsOf<R>::value_type; };

template <class F, class T> OpRef flat_map(F function, const MapOptions& options) {
  using R = Result<F, T>;
  check_hint<T>(options.bytes_hint);
  if constexpr (GivesElements<R>) {
    return ops::flat_map_datasets(function_ref<DatasetFunction, T>(std::move(function)), options);
  } else {
    using U = typename Flatten<R>::value_type;
    return ops::flat_map(made_shared<Function, ManyFunction<F, T, U, Flatten<R>>>(std::move(function)), options);
  }
}

template <class T> OpRef unbatch() {
  using Rows = ManyFunction<std::identity, T, typename Unbatch<T>::value_type, Unbatch<T>>;
  return ops::unbatch(made_shared<Function, Rows>(std::identity{}));
}

}  // namespace penstock::detail

#pragma GCC visibility pop
