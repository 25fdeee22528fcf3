// From the user's typed functions to the engine's untyped ones. Nothing here is meant to be called by users.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/bytes.h>
#include <penstock/bytes_hint.h>
#include <penstock/detail/made.h>
#include <penstock/detail/parameter.h>
#include <penstock/error.h>
#include <penstock/op.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// Of a function that takes a T.
template <class T> void check_hint(const BytesHint& hint) {
  if (!hint || hint.input_type() == typeid(T)) return;
  throw Error(ErrorCode::invalid_argument, "bytes_hint must take the function's own input type, but takes another one");
}

// An untyped function over slots: what ops/map, filter, flat_map and unbatch run.
class Function {
 public:
  virtual ~Function() = default;
  virtual void run(std::span<Slot> slots, Context& context) const = 0;
  virtual bool callable_in_parallel() const noexcept { return true; }
  virtual std::size_t result_bytes() const noexcept { return 0; }  // ElementwiseOp::result_bytes()
  virtual bool cannot_fail() const noexcept { return false; }      // by its type
  // Of one that is not: each pass of each run has a copy of its own. Null: it cannot be copied.
  virtual bool can_be_copied() const noexcept { return true; }
  virtual std::unique_ptr<Function> copy() const { return nullptr; }
};
using FunctionRef = std::shared_ptr<const Function>;

// Plain calls, not std::invocable: of an error inside a generic lambda the compiler then tells the way there in two
// lines.
template <class F, class T>
concept TakesContext = requires(F& function, Context& context) {
  function(std::declval<T>(), context);
};
template <class F, class T>
concept TakesElement = requires(F& function) {
  function(std::declval<T>());
};
// Of a tuple's parts. Who takes the tuple itself gets that.
template <class F, class T, class Index, class... More> inline constexpr bool takes_parts = false;
template <class F, class T, std::size_t... I, class... More>
requires requires(F& function, More&... more) { function(std::get<I>(std::declval<T>())..., more...); }
inline constexpr bool takes_parts<F, T, std::index_sequence<I...>, More...> = true;

template <class T> inline constexpr bool is_tuple = false;
template <class... Part> inline constexpr bool is_tuple<std::tuple<Part...>> = true;
template <class T> struct PartsOf {
  using Index = std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<T>>>;
};
template <class F, class T, class... More>
concept TakesParts = !TakesContext<F, T> && !TakesElement<F, T> && is_tuple<std::remove_cvref_t<T>> &&
                     takes_parts<F, T, typename PartsOf<T>::Index, More...>;

template <class F, class T>
concept ElementFunction = TakesContext<F, T> || TakesElement<F, T> || TakesParts<F, T, Context> || TakesParts<F, T>;

template <class F, class T, class... More> decltype(auto) call_with_parts(F& function, T&& tuple, More&... more) {
  const auto call = [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    return function(std::get<I>(std::forward<T>(tuple))..., more...);
  };
  return call(typename PartsOf<T>::Index{});
}

template <class F, class T> struct ResultOf {};
template <class F, class T>
requires(TakesElement<F, T> && !TakesContext<F, T>) struct ResultOf<F, T> {
  using type = decltype(std::declval<F&>()(std::declval<T>()));
};
template <class F, class T>
requires TakesContext<F, T>
struct ResultOf<F, T> {
  using type = decltype(std::declval<F&>()(std::declval<T>(), std::declval<Context&>()));
};
template <class F, class T>
requires TakesParts<F, T, Context>
struct ResultOf<F, T> {
  using type = decltype(call_with_parts(std::declval<F&>(), std::declval<T>(), std::declval<Context&>()));
};
template <class F, class T>
requires(TakesParts<F, T> && !TakesParts<F, T, Context>) struct ResultOf<F, T> {
  using type = decltype(call_with_parts(std::declval<F&>(), std::declval<T>()));
};
template <class F, class T> using Result = std::remove_cvref_t<typename ResultOf<F, T>::type>;

// Whether F's first parameter is a const reference, so that a call which is broken off leaves its input whole.
template <class F, class T> inline constexpr bool takes_const_reference = std::is_same_v<FirstParameterOf<F>, const T&>;

// Calls the user's function once for a slot. Const-callable functions may be called from several threads; of others
// each pass of each run has a copy, which one thread at a time calls (FunctionOp), and that is what the const_cast
// relies on.
template <class F, class T> class Caller {
 public:
  explicit Caller(F function) : function_(std::move(function)) {}

  static constexpr bool is_const = [] {
    if constexpr (TakesContext<F, T>) return TakesContext<const F, T>;
    if constexpr (TakesElement<F, T>) return TakesElement<const F, T>;
    return TakesParts<F, T, Context> ? TakesParts<const F, T, Context> : TakesParts<const F, T>;
  }();

  // Of one that takes parts it is not asked.
  template <class V>
  static constexpr bool cannot_throw = [] {
    using Called = std::conditional_t<is_const, const F&, F&>;
    if constexpr (TakesContext<F, T>) return std::is_nothrow_invocable_v<Called, V, Context&>;
    return std::is_nothrow_invocable_v<Called, V>;
  }();

  template <class V> decltype(auto) operator()(V&& value, Context& context) const {
    auto& function = reference();
    if constexpr (TakesContext<F, T>) {
      return function(std::forward<V>(value), context);
    } else if constexpr (TakesElement<F, T>) {
      return function(std::forward<V>(value));
    } else if constexpr (TakesParts<F, T, Context>) {
      return call_with_parts(function, std::forward<V>(value), context);
    } else {
      return call_with_parts(function, std::forward<V>(value));
    }
  }

 private:
  auto& reference() const noexcept {
    if constexpr (is_const) {
      return function_;
    } else {
      return const_cast<F&>(function_);
    }
  }
  F function_;
};

// Runs `answer` for each slot; an exception fails that slot alone. RetryWhenMemoryIsFree passes: the engine handles it.
template <class Answer> void for_each_slot(std::span<Slot> slots, Context& context, bool may_retry, Answer&& answer) {
  for (std::size_t i = 0; i < slots.size() && context.go_on(i); ++i) {
    Slot& slot = slots[i];
    context.enter(slot, may_retry);
    try {
      answer(slot);
    } catch (const RetryWhenMemoryIsFree&) {
      throw;
    } catch (...) {
      slot.fail(detail::current_failure());
    }
  }
}

// What all functions over slots have: Self is the class, F the user's function.
template <class Self, class F> class CopiedFunction : public Function {
 public:
  bool can_be_copied() const noexcept override { return std::is_copy_constructible_v<F>; }
  std::unique_ptr<Function> copy() const override {
    if constexpr (std::is_copy_constructible_v<F>) {
      return made<Function, Self>(static_cast<const Self&>(*this));
    } else {
      return nullptr;
    }
  }
};

template <class F, class T> class MapFunction final : public CopiedFunction<MapFunction<F, T>, F> {
 public:
  using U = Result<F, T>;
  explicit MapFunction(F function) : call_(std::move(function)) {}
  bool callable_in_parallel() const noexcept override { return Caller<F, T>::is_const; }
  std::size_t result_bytes() const noexcept override { return has_fixed_bytes<U> ? sizeof(U) : 0; }
  // Results of other types may fail as they are looked at: bytes_of is a user's. What is not taken by const T& may be
  // copied before, if it is the source's.
  bool cannot_fail() const noexcept override {
    return has_fixed_bytes<U> && Caller<F, T>::template cannot_throw<Argument> &&
           std::is_nothrow_constructible_v<U, typename ResultOf<F, T>::type> &&
           (keeps_input || std::is_nothrow_copy_constructible_v<T>);
  }

  void run(std::span<Slot> slots, Context& context) const override {
    const bool may_retry = keeps_input && Caller<F, T>::is_const &&
                           slots.size() == 1;  // a second call of one with a state gives something else
    for_each_slot(slots, context, may_retry, [&](Slot& slot) {
      if constexpr (keeps_input) {
        slot.emit(Element(U(call_(std::as_const(slot.value).template unchecked<T>(), context))));
      } else {
        slot.emit(Element(U(call_(std::move(slot.value.template unchecked<T>()), context))));
      }
    });
  }

 private:
  static constexpr bool keeps_input = takes_const_reference<F, T>;
  using Argument = std::conditional_t<keeps_input, const T&, T>;

  Caller<F, T> call_;
};

template <class F, class T> class FilterFunction final : public CopiedFunction<FilterFunction<F, T>, F> {
 public:
  explicit FilterFunction(F predicate) : call_(std::move(predicate)) {}
  bool callable_in_parallel() const noexcept override { return Caller<F, const T&>::is_const; }

  void run(std::span<Slot> slots, Context& context) const override {
    for_each_slot(slots, context, false, [&](Slot& slot) {
      if (!call_(std::as_const(slot.value).template unchecked<T>(), context)) slot.drop();
    });
  }

 private:
  Caller<F, const T&> call_;
};

// 1 -> n. `Apart` turns what the function returned into a std::vector<U>.
template <class F, class T, class U, class Apart>
class ManyFunction final : public CopiedFunction<ManyFunction<F, T, U, Apart>, F> {
 public:
  explicit ManyFunction(F function) : call_(std::move(function)) {}
  bool callable_in_parallel() const noexcept override { return Caller<F, T>::is_const; }

  void run(std::span<Slot> slots, Context& context) const override {
    for_each_slot(slots, context, false, [&](Slot& slot) {
      slot.emit_many(
          made<Results, ListResults<U>>(Apart::apart(call_(std::move(slot.value.template unchecked<T>()), context))));
    });
  }

 private:
  Caller<F, T> call_;
};

// A user's function as one of these.
template <template <class, class> class Typed, class T, class F> FunctionRef function_ref(F function) {
  return made_shared<Function, Typed<F, T>>(std::move(function));
}

// An untyped Collate<T>::Builder: what ops/batch collects with.
class BatchBuilder {
 public:
  virtual ~BatchBuilder() = default;
  virtual void check(const Element& value) const = 0;  // throws if it does not fit
  virtual void add(Element&& value) = 0;
  virtual Element finish() = 0;
};
class BatchFactory {
 public:
  virtual ~BatchFactory() = default;
  virtual std::unique_ptr<BatchBuilder> open(std::size_t capacity) const = 0;
};
using BatchFactoryRef = std::shared_ptr<const BatchFactory>;

// Together: a Collate<T>, or another way to put elements together, which is told Settings beside the number of
// elements.
template <class T, class Together> class TypedBatchBuilder final : public BatchBuilder {
 public:
  template <class... Settings>
  explicit TypedBatchBuilder(std::size_t capacity, const Settings&... settings) : builder_(capacity, settings...) {}
  void check(const Element& value) const override { builder_.check(value.unchecked<T>()); }
  void add(Element&& value) override {
    builder_.add(std::move(value.unchecked<T>()));
    value.reset();
  }
  Element finish() override { return Element(builder_.finish()); }

 private:
  typename Together::Builder builder_;
};
// It lives longer than its builders, which may refer to the settings.
template <class T, class Together = Collate<T>, class... Settings> class TypedBatchFactory final : public BatchFactory {
 public:
  explicit TypedBatchFactory(Settings... settings) : settings_(std::move(settings)...) {}
  std::unique_ptr<BatchBuilder> open(std::size_t capacity) const override {
    return std::apply(
        [&](const Settings&... settings) {
          return made<BatchBuilder, TypedBatchBuilder<T, Together>>(capacity, settings...);
        },
        settings_);
  }

 private:
  const std::tuple<Settings...> settings_;
};

// Indexable memory: what from_vector serves.
template <class T> class VectorSource final : public IndexedSource {
 public:
  explicit VectorSource(std::vector<T> values) : values_(std::move(values)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(values_.size()); }
  Element at(std::int64_t index) const override {
    return Element::referring_to(values_[static_cast<std::size_t>(index)]);
  }
  std::string origin(std::int64_t index) const override {
    if constexpr (std::is_same_v<T, std::string>) return values_[static_cast<std::size_t>(index)];
    return {};
  }

 private:
  std::vector<T> values_;
};

// What from_indexed takes: a type that is no IndexedSource itself, and gives values.
template <class S> using Indexed = std::remove_cvref_t<decltype(std::declval<const S&>().at(std::int64_t{}))>;
template <class S>
concept Indexable = requires(const S& source) {
  static_cast<std::int64_t>(source.size());
  typename Indexed<S>;
}
&&!std::is_same_v<Indexed<S>, Element>;

template <class S> class ValueSource final : public IndexedSource {
 public:
  explicit ValueSource(S source) : source_(std::move(source)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(source_.size()); }
  Element at(std::int64_t index) const override { return Element(Indexed<S>(source_.at(index))); }

 private:
  S source_;
};

// A callable behind SourceReader. `Factory(pass)` gives a callable returning std::optional<T>.
class GeneratorFactory {
 public:
  virtual ~GeneratorFactory() = default;
  virtual std::unique_ptr<SourceReader> open() const = 0;
};

}  // namespace penstock::detail

#pragma GCC visibility pop
