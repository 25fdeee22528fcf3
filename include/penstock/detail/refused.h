// What the compiler says of pipelines that cannot be. Nothing here is meant to be called by users.
//
// Each overload below takes a call that no method of Dataset takes, and is unavailable: so the error stands at the
// user's own line, in the first lines of the compiler's output, and says what to write. A static_assert would come
// behind the way through the headers, a requires-clause alone would list candidates. tests/mistakes has the programs,
// and what is said of each.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/codec.h>
#include <penstock/detail/buckets.h>
#include <penstock/detail/functions.h>
#include <penstock/detail/gather.h>
#include <penstock/detail/generator.h>
#include <penstock/detail/rebatch.h>
#include <penstock/detail/steps.h>
#include <penstock/detail/unavailable.h>
#include <penstock/graph.h>
#include <penstock/options.h>
#include <penstock/padded_batch.h>
#include <penstock/tunable.h>

#pragma GCC visibility push(default)

namespace penstock {

template <class T> class Dataset;

namespace detail {

// Of a method that takes the parallelism as an argument, too.
inline void set_parallelism(const graph::NodeRef& input, const char* op, MapOptions& options,
                            const Tunable& parallelism, CallSite site) {
  if (!(options.parallelism == AUTOTUNE))
    graph::fail(input, op, site, "parallelism is given twice: as an argument and in the options; write one of them");
  options.parallelism = parallelism;
}

// ------------------------------------------------------------------------------------------------ what is wrong with a
// function

enum class FunctionFault { none, changes_input, copies_context, other };

// Becomes the second parameter of a function that takes its Context by value.
struct ContextValue {
  operator Context() const;
};

template <class F, class... Arguments>
concept Callable = requires(F& function) {
  function(std::declval<Arguments>()...);
};

// T: how the function gets its element.
template <class F, class T> consteval FunctionFault fault_of_function() {
  using Value = std::remove_cvref_t<T>;
  if constexpr (ElementFunction<F, T>) {
    return FunctionFault::none;
  } else if constexpr (Callable<F, Value&> || Callable<F, Value&, Context&>) {
    return FunctionFault::changes_input;
  } else if constexpr (Callable<F, T, ContextValue>) {
    return FunctionFault::copies_context;
  } else {
    return FunctionFault::other;
  }
}

template <class F, class T, FunctionFault fault>
concept HasFault = !ElementFunction<F, T> && fault_of_function<F, T>() == fault;

// ------------------------------------------------------------------------------------------------ what is wrong with a
// result

template <class T> inline constexpr bool has_wrong_fields = false;
template <HasFields T>
inline constexpr bool has_wrong_fields<T> = !is_member_list<T, std::remove_cvref_t<decltype(Fields<T>::value)>>;

template <class R> struct IsDataset : std::false_type {};
template <class U> struct IsDataset<Dataset<U>> : std::true_type {};
template <class R>
concept GivesElements = IsDataset<R>::value || Generator<R>;

template <class F, class T>
concept ReturnsVoid = ElementFunction<F, T> && std::is_void_v<Result<F, T>>;
template <class F, class T>
concept ReturnsWrongFields = ElementFunction<F, T> && has_wrong_fields<Result<F, T>>;
template <class F, class T>
concept ReturnsNoRows = ElementFunction<F, T> && !GivesElements<Result<F, T>> && !Unbatchable<Result<F, T>>;
template <class F, class T>
concept ReturnsNoDataset = ElementFunction<F, T> && !GivesElements<Result<F, T>>;
template <class F, class T>
concept ReturnsNoBool = ElementFunction<F, T> && !std::constructible_from<bool, typename ResultOf<F, T>::type>;

// ------------------------------------------------------------------------------------------------ what is wrong with
// an element

template <class T, class Tuple> inline constexpr bool has_unbatchable_member = false;
template <class T, class... M>
inline constexpr bool has_unbatchable_member<T, std::tuple<M...>> = !(Batchable<typename MemberType<M>::type> && ...);

template <class T> inline constexpr bool has_unbatchable_field = false;
template <HasFields T>
requires(!has_wrong_fields<T>) inline constexpr bool has_unbatchable_field<T> =
    has_unbatchable_member<T, std::remove_cvref_t<decltype(Fields<T>::value)>>;

template <class T>
concept BatchElement = !has_wrong_fields<T> && !has_unbatchable_field<T> && Batchable<T>;

// A vector cannot be filled up with values that do not begin as anything.
template <class T>
concept Paddable = requires {
  typename PaddedCollate<T>::Builder;
};
template <class T, class Tuple> inline constexpr bool has_unpaddable_member = false;
template <class T, class... M>
inline constexpr bool has_unpaddable_member<T, std::tuple<M...>> = !(Paddable<typename MemberType<M>::type> && ...);
template <class T> inline constexpr bool has_unpaddable_field = false;
template <HasFields T>
requires(!has_wrong_fields<T>) inline constexpr bool has_unpaddable_field<T> =
    has_unpaddable_member<T, std::remove_cvref_t<decltype(Fields<T>::value)>>;
template <class T>
concept PaddedBatchElement = BatchElement<T> && !has_unpaddable_field<T> && Paddable<T>;

// ------------------------------------------------------------------------------------------------ options that are not
// there

// Whatever is given for a parameter.
struct Anything {
  template <class Value> Anything(Value&&);  // NOLINT: implicit
};

// Takes the braces of `{.paralelism = 8}`. GCC takes them for an array, and first names the member that is not there;
// clang takes them nowhere but for `...`. Whatever is right converts better.
#ifdef __clang__
#define PENSTOCK_REFUSED_BRACES(text, method, ...)                                             \
  template <class = void> PENSTOCK_UNAVAILABLE(text) Dataset<T> method(__VA_ARGS__...) const { \
    return Dataset<T>(nullptr);                                                                \
  }
#else
#define PENSTOCK_REFUSED_BRACES(text, method, ...)                               \
  template <std::size_t count>                                                   \
  PENSTOCK_UNAVAILABLE(text)                                                     \
  Dataset<T> method(__VA_ARGS__ __VA_OPT__(, ) const Anything(&)[count]) const { \
    return Dataset<T>(nullptr);                                                  \
  }
#endif

#define PENSTOCK_REFUSED_FUNCTION(method, Input, why, text)                          \
  template <class F, class Of = Input>                                               \
  requires(why) PENSTOCK_UNAVAILABLE(text)                                           \
  Dataset<T> method(F, const MapOptions& = {}) const { return Dataset<T>(nullptr); } \
  template <class F, class Of = Input>                                               \
  requires(why) PENSTOCK_UNAVAILABLE(text)                                           \
  Dataset<T> method(F, Tunable, const MapOptions& = {}) const { return Dataset<T>(nullptr); }

template <class T> class Refused {
 public:
  PENSTOCK_REFUSED_FUNCTION(
      map, T, (HasFault<F, Of, FunctionFault::other>),
      "map(): the function cannot be called with an element: its first parameter must be T, const T& or T&& of the "
      "Dataset<T> before it, and a second one, if there is any, ps::Context&; of a std::tuple it may take the parts")
  PENSTOCK_REFUSED_FUNCTION(map, T, (HasFault<F, Of, FunctionFault::changes_input>),
                            "map(): the function takes its element as T&, to change it in place: write T, const T& or "
                            "T&&, and return what is new")
  PENSTOCK_REFUSED_FUNCTION(
      map, T, (HasFault<F, Of, FunctionFault::copies_context>),
      "map(): the function takes its ps::Context by value, but contexts cannot be copied: write ps::Context&")
  PENSTOCK_REFUSED_FUNCTION(
      map, T, (ReturnsVoid<F, Of>),
      "map(): the function returns nothing, but must return what takes its element's place; to do something with each "
      "element, loop over the dataset")
  PENSTOCK_REFUSED_FUNCTION(
      map, T, (ReturnsWrongFields<F, Of>),
      "map(): the ps::Fields of what the function returns are wrong: value must be a std::tuple of pointers to data "
      "members, as in std::tuple{&Example::image, &Example::label}")
  PENSTOCK_REFUSED_BRACES(
      "map(): no such options; there are, in this order: {.parallelism = 8, .order = ps::Order::arbitrary, .blocks = "
      "true, .keeps_leading_dimension = true, .bytes_hint = f, .name = \"decode\"}",
      map, Anything)
  PENSTOCK_REFUSED_BRACES(
      "map(): no such options; there are, in this order: {.parallelism = 8, .order = ps::Order::arbitrary, .blocks = "
      "true, .keeps_leading_dimension = true, .bytes_hint = f, .name = \"decode\"}",
      map, Anything, Anything)

  PENSTOCK_REFUSED_FUNCTION(flat_map, T, (HasFault<F, Of, FunctionFault::other>),
                            "flat_map(): the function cannot be called with an element: its first parameter must be T, "
                            "const T& or T&& of the "
                            "Dataset<T> before it, and a second one, if there is any, ps::Context&")
  PENSTOCK_REFUSED_FUNCTION(
      flat_map, T, (HasFault<F, Of, FunctionFault::changes_input>),
      "flat_map(): the function takes its element as T&, to change it in place: write T, const T& or T&&, and return "
      "what is new")
  PENSTOCK_REFUSED_FUNCTION(
      flat_map, T, (HasFault<F, Of, FunctionFault::copies_context>),
      "flat_map(): the function takes its ps::Context by value, but contexts cannot be copied: write ps::Context&")
  PENSTOCK_REFUSED_FUNCTION(flat_map, T, (ReturnsNoRows<F, Of>),
                            "flat_map(): the function must return several elements: a std::vector, a ps::Dataset, a "
                            "generator, a ps::Tensor (its rows) or a type with "
                            "ps::Unbatch; for one element use map()")
  PENSTOCK_REFUSED_BRACES(
      "flat_map(): no such options; there are, in this order: {.parallelism = 8, .order = ps::Order::arbitrary, "
      ".blocks = true, .bytes_hint = f, .name = \"split\"}",
      flat_map, Anything)
  PENSTOCK_REFUSED_BRACES(
      "flat_map(): no such options; there are, in this order: {.parallelism = 8, .order = ps::Order::arbitrary, "
      ".blocks = true, .bytes_hint = f, .name = \"split\"}",
      flat_map, Anything, Anything)

  PENSTOCK_REFUSED_FUNCTION(interleave, T, (HasFault<F, Of, FunctionFault::other>),
                            "interleave(): the function cannot be called with an element: its first parameter must be "
                            "T, const T& or T&& of the Dataset<T> before it, and a second one, if there is any, "
                            "ps::Context&")
  PENSTOCK_REFUSED_FUNCTION(
      interleave, T, (HasFault<F, Of, FunctionFault::changes_input>),
      "interleave(): the function takes its element as T&, to change it in place: write T, const T& or T&&")
  PENSTOCK_REFUSED_FUNCTION(
      interleave, T, (HasFault<F, Of, FunctionFault::copies_context>),
      "interleave(): the function takes its ps::Context by value, but contexts cannot be copied: write ps::Context&")
  PENSTOCK_REFUSED_FUNCTION(
      interleave, T, (ReturnsNoDataset<F, Of>),
      "interleave(): the function must return a ps::Dataset, as ps::from_vector makes one of a "
      "std::vector, or a generator; for the elements of a vector one after the other use flat_map()")
  PENSTOCK_REFUSED_BRACES(
      "interleave(): no such options; there are, in this order: {.cycle_length = 16, .block_length = 1, .parallelism "
      "= 8, .order = ps::Order::arbitrary, .blocks = true, .name = \"read\"}",
      interleave, Anything)

  PENSTOCK_REFUSED_FUNCTION(
      filter, const T&, (HasFault<F, Of, FunctionFault::other>),
      "filter(): the predicate cannot be called with an element: its first parameter must be T or const T& of the "
      "Dataset<T> before it, and a second one, if there is any, ps::Context&")
  PENSTOCK_REFUSED_FUNCTION(
      filter, const T&, (HasFault<F, Of, FunctionFault::changes_input>),
      "filter(): the predicate takes its element as T&, to change it: write const T&, and change elements by map()")
  PENSTOCK_REFUSED_FUNCTION(
      filter, const T&, (HasFault<F, Of, FunctionFault::copies_context>),
      "filter(): the predicate takes its ps::Context by value, but contexts cannot be copied: write ps::Context&")
  PENSTOCK_REFUSED_FUNCTION(filter, const T&, (ReturnsNoBool<F, Of>),
                            "filter(): the predicate must return true for what is to be kept, and false for the rest; "
                            "to change elements use map()")
  PENSTOCK_REFUSED_BRACES(
      "filter(): no such options; there are, in this order: {.parallelism = 8, .order = ps::Order::arbitrary, "
      ".name = \"large\"}",
      filter, Anything)

  template <class F>
  requires(!PredicateFunction<F, T>) PENSTOCK_UNAVAILABLE(
      "take_while(): the predicate must take an element, as T or const T&, and nothing else, and return true as long "
      "as elements are wanted; one that changes itself must be copyable")
  Dataset<T> take_while(F) const { return Dataset<T>(nullptr); }
  template <class State, class F>
  requires(!ScanFunction<State, F, T>) PENSTOCK_UNAVAILABLE(
      "scan(): the function must be f(const State&, T) and return ps::Scanned{state, value}, whose state has the very "
      "type of the initial one; states are copied and assigned")
  Dataset<T> scan(State, F) const { return Dataset<T>(nullptr); }
  template <class F>
  requires(!KeyFunction<F, T>) PENSTOCK_UNAVAILABLE(
      "group_by_window(): the key function must take an element, as T or const T&, and nothing else, and return what "
      "has an order (all of < <= > >= == !=) and owns it, such as a number or a std::string, but no std::string_view")
  Dataset<std::vector<T>> group_by_window(F, std::int64_t) const { return Dataset<std::vector<T>>(nullptr); }
  PENSTOCK_UNAVAILABLE(
      "cache(): these elements cannot be copied, and it keeps a copy of each: hold them by std::shared_ptr")
  Dataset<T> cache(const CacheOptions& = {}) const requires(!std::copy_constructible<T>) { return Dataset<T>(nullptr); }
  PENSTOCK_UNAVAILABLE(
      "cache(path): it is not known how these elements are written to a file: write a ps::Fields, behind the struct, "
      "or "
      "a ps::Codec (penstock/codec.h)")
  Dataset<T> cache(const std::string&, const CacheOptions& = {}) const requires(!HasCodec<T>) {
    return Dataset<T>(nullptr);
  }
  PENSTOCK_UNAVAILABLE(
      "unique(): these elements cannot be remembered: they must be copyable, comparable by == and have a std::hash; "
      "give "
      "the type both, or map() to what tells them apart")
  Dataset<T> unique() const requires(!Hashable<T>) { return Dataset<T>(nullptr); }
  template <class Sizes>
  PENSTOCK_UNAVAILABLE("rebatch(): these elements are no batches; put batch() before it, or batch() instead of it")
  Dataset<T> rebatch(const Sizes&, BatchOptions = {}) const requires(!IsBatch<T>::value) {
    return Dataset<T>(nullptr);
  }
  template <class State, class F>
  requires(!ReduceFunction<State, F, T>) PENSTOCK_UNAVAILABLE(
      "reduce(): the function must be f(State, T) and return the next state, as the type of the initial one")
  State reduce(State initial, F, const RunOptions& = {}) const { return initial; }
  template <std::same_as<bool> DropRemainder>
  PENSTOCK_UNAVAILABLE("rebatch(): options stand in braces: write rebatch(n, {.drop_remainder = true})")
  Dataset<T> rebatch(std::int64_t, DropRemainder) const {
    return Dataset<T>(nullptr);
  }
  template <std::integral Shift>
  PENSTOCK_UNAVAILABLE("window(): options stand in braces: write window(n, {.shift = 1})")
  Dataset<std::vector<T>> window(std::int64_t, Shift) const {
    return Dataset<std::vector<T>>(nullptr);
  }
  PENSTOCK_REFUSED_BRACES(
      "window(): no such options; there are, in this order: {.shift = 2, .stride = 3, .drop_remainder = true}", window,
      Anything)

  template <std::convertible_to<std::uint64_t> Seed>
  PENSTOCK_UNAVAILABLE("shuffle(): options stand in braces: a seed is written shuffle(n, {.seed = 7})")
  Dataset<T> shuffle(std::int64_t, Seed) const {
    return Dataset<T>(nullptr);
  }
  PENSTOCK_REFUSED_BRACES(
      "shuffle(): no such options; there are, in this order: {.seed = 7, .reshuffle_each_epoch = false}", shuffle,
      Anything)

  PENSTOCK_UNAVAILABLE(
      "batch(): the elements' ps::Fields are wrong: value must be a std::tuple of pointers to data members, as in "
      "std::tuple{&Example::image, &Example::label}")
  Dataset<T> batch(std::int64_t, const BatchOptions& = {}) const requires has_wrong_fields<T> {
    return Dataset<T>(nullptr);
  }
  PENSTOCK_UNAVAILABLE(
      "batch(): a member listed in ps::Fields cannot be put together; give its type a ps::Collate, or leave it out of "
      "ps::Fields")
  Dataset<T> batch(std::int64_t, const BatchOptions& = {}) const requires has_unbatchable_field<T> {
    return Dataset<T>(nullptr);
  }
  PENSTOCK_UNAVAILABLE(
      "batch(): elements of this type cannot be put together; give the type a ps::Collate, or map to one that has it, "
      "before batch()")
  Dataset<T> batch(std::int64_t, const BatchOptions& = {}) const requires(!Batchable<T>) { return Dataset<T>(nullptr); }
  template <std::same_as<bool> DropRemainder>
  PENSTOCK_UNAVAILABLE("batch(): options stand in braces: write batch(n, {.drop_remainder = true})")
  Dataset<T> batch(std::int64_t, DropRemainder) const {
    return Dataset<T>(nullptr);
  }
  PENSTOCK_REFUSED_BRACES("batch(): no such options; there is {.drop_remainder = true}", batch, Anything)

  PENSTOCK_UNAVAILABLE(
      "padded_batch(): elements of this type, or a member listed in their ps::Fields, cannot be put together: a vector "
      "needs values that have a default, anything else a ps::Collate; map() to such, or leave it out of ps::Fields")
  Dataset<T> padded_batch(std::int64_t, const PaddedBatchOptions<T>& = {}) const requires(!PaddedBatchElement<T>) {
    return Dataset<T>(nullptr);
  }
  template <std::same_as<bool> DropRemainder>
  PENSTOCK_UNAVAILABLE("padded_batch(): options stand in braces: write padded_batch(n, {.drop_remainder = true})")
  Dataset<T> padded_batch(std::int64_t, DropRemainder) const {
    return Dataset<T>(nullptr);
  }
  PENSTOCK_REFUSED_BRACES(
      "padded_batch(): no such options; there are, in this order: {.padded_shapes = {128}, .padding_values = -1, "
      ".drop_remainder = true}; of structs for each field: {.padded_shapes = {{&Example::tokens, {128}}}}",
      padded_batch, Anything)

  PENSTOCK_UNAVAILABLE(
      "ragged_batch(): elements of this type, or a member listed in their ps::Fields, cannot be put together; give the "
      "type a ps::Collate, map to one that has it, or leave the member out of ps::Fields")
  Dataset<T> ragged_batch(std::int64_t, const BatchOptions& = {}) const requires(!BatchElement<T>) {
    return Dataset<T>(nullptr);
  }
  template <std::same_as<bool> DropRemainder>
  PENSTOCK_UNAVAILABLE("ragged_batch(): options stand in braces: write ragged_batch(n, {.drop_remainder = true})")
  Dataset<T> ragged_batch(std::int64_t, DropRemainder) const {
    return Dataset<T>(nullptr);
  }
  PENSTOCK_REFUSED_BRACES("ragged_batch(): no such options; there is {.drop_remainder = true}", ragged_batch, Anything)

  template <class F>
  requires(!LengthFunction<F, T>) PENSTOCK_UNAVAILABLE(
      "bucket_by_sequence_length(): the length function must take an element, as T or const T&, and nothing else, and "
      "return a whole number; one that changes itself must be copyable")
  Dataset<T> bucket_by_sequence_length(F, const BucketOptions<T>&) const { return Dataset<T>(nullptr); }
  template <class F>
  requires(LengthFunction<F, T> && !PaddedBatchElement<T>) PENSTOCK_UNAVAILABLE(
      "bucket_by_sequence_length(): these elements cannot be put together, as padded_batch() would tell")
  Dataset<T> bucket_by_sequence_length(F, const BucketOptions<T>&) const { return Dataset<T>(nullptr); }
  PENSTOCK_REFUSED_BRACES(
      "bucket_by_sequence_length(): no such options; there are, in this order: {.bucket_boundaries = {16, 64}, "
      ".bucket_batch_sizes = {32, 16, 4}, .padded_shapes = {128}, .padding_values = -1, "
      ".pad_to_bucket_boundary = true, .drop_remainder = true}",
      bucket_by_sequence_length, Anything)

  PENSTOCK_UNAVAILABLE(
      "unbatch(): these elements have no rows; it takes a ps::Tensor, a std::vector, a ps::Batch or a type with "
      "ps::Unbatch apart; to make several elements of one use flat_map()")
  Dataset<T> unbatch() const requires(!Unbatchable<T>) { return Dataset<T>(nullptr); }

  template <class U>
  requires(!std::same_as<U, T>) PENSTOCK_UNAVAILABLE(
      "concatenate(): the other dataset has another element type: bring both to one type with a map() before")
  Dataset<T> concatenate(const Dataset<U>&) const { return Dataset<T>(nullptr); }

  template <class Transform>
  requires(!std::invocable<Transform, const Dataset<T>&>) PENSTOCK_UNAVAILABLE(
      "apply(): the transform cannot be called with this dataset: it takes another element type, which a map() before "
      "it would have to make, or no Dataset at all")
  Dataset<T> apply(Transform&&, const void* = nullptr) const { return Dataset<T>(nullptr); }

  PENSTOCK_REFUSED_BRACES(
      "start(): no such options; ps::RunOptions (options.h) lists them: {.threads = 4, .memory_bytes = 2 * ps::GiB, "
      ".epochs = 90, .seed = 7, .on_error = ps::skip_up_to(100), ...}",
      start)
};

#undef PENSTOCK_REFUSED_BRACES
#undef PENSTOCK_REFUSED_FUNCTION

}  // namespace detail
}  // namespace penstock

#pragma GCC visibility pop
