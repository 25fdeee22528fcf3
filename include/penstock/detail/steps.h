// What stream ops ask of typed elements, one after the other: take_while, enumerate, scan, unique. Nothing here is
// meant to be called by users.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <penstock/bytes.h>
#include <penstock/codec.h>
#include <penstock/detail/functions.h>
#include <penstock/detail/made.h>
#include <penstock/element.h>
#include <penstock/state.h>

#pragma GCC visibility push(default)

namespace penstock {

// What the function of Dataset::scan() gives: the state for the next element, and what takes this element's place.
template <class State, class Value> struct Scanned {
  State state;
  Value value;
};
template <class State, class Value> Scanned(State, Value) -> Scanned<State, Value>;

namespace detail {

// One for each pass.
class Step {
 public:
  virtual ~Step() = default;
  // Answers the element in its place. `position`: how many elements and errors of the pass came before it. False: it is
  // unwanted. What it throws fails this element alone.
  virtual bool run(Element& value, std::int64_t position) = 0;
  virtual std::int64_t held_bytes() const { return 0; }
  // As those of a StreamState.
  virtual bool save(StateWriter&) const { return false; }
  virtual void restore(StateReader&) {}
};
class StepFactory {
 public:
  virtual ~StepFactory() = default;
  virtual std::unique_ptr<Step> open() const = 0;
};
using StepFactoryRef = std::shared_ptr<const StepFactory>;

// Each pass begins with a copy as it was given.
template <class S> class CopiedStep final : public StepFactory {
 public:
  explicit CopiedStep(S step) : step_(std::move(step)) {}
  std::unique_ptr<Step> open() const override { return made<Step, S>(step_); }

 private:
  const S step_;
};
template <class S> StepFactoryRef copied(S step) { return made_shared<StepFactory, CopiedStep<S>>(std::move(step)); }

// A function that a pass can have for itself: one that its call may change is copied, any other is shared by all.
template <class F, class... Arguments> inline constexpr bool called_as_const = requires(const F& function) {
  function(std::declval<Arguments>()...);
};
template <class F> class SharedFunction {
 public:
  explicit SharedFunction(F function) : function_(std::make_shared<const F>(std::move(function))) {}
  template <class... Arguments> decltype(auto) operator()(Arguments&&... arguments) const {
    return (*function_)(std::forward<Arguments>(arguments)...);
  }

 private:
  std::shared_ptr<const F> function_;
};
template <class F, class... Arguments>
using FunctionOfPass = std::conditional_t<called_as_const<F, Arguments...>, SharedFunction<F>, F>;
template <class F, class... Arguments>
concept HasFunctionOfPass = called_as_const<F, Arguments...> || std::copy_constructible<F>;

template <class F, class T>
concept PredicateFunction = HasFunctionOfPass<F, const T&> && requires(F& function, const T& value) {
  { function(value) } -> std::convertible_to<bool>;
};

template <class F, class T> class PredicateStep final : public Step {
 public:
  explicit PredicateStep(F predicate) : predicate_(std::move(predicate)) {}
  bool run(Element& value, std::int64_t) override {
    return static_cast<bool>(predicate_(std::as_const(value).template unchecked<T>()));
  }
  bool save(StateWriter&) const override { return called_as_const<F, const T&>; }  // it has no state then

 private:
  FunctionOfPass<F, const T&> predicate_;
};

template <class T> class EnumerateStep final : public Step {
 public:
  explicit EnumerateStep(std::int64_t start) : start_(static_cast<std::uint64_t>(start)) {}
  bool run(Element& value, std::int64_t position) override {
    const auto number = static_cast<std::int64_t>(start_ + static_cast<std::uint64_t>(position));
    value = Element(std::tuple<std::int64_t, T>(number, std::move(value.unchecked<T>())));
    return true;
  }
  bool save(StateWriter&) const override { return true; }

 private:
  std::uint64_t start_;  // unsigned, to wrap around
};

template <class State, class F, class T>
concept ScanFunction = std::copy_constructible<State> && std::is_move_assignable_v<State> &&
    HasFunctionOfPass<F, const State&, T> && requires(F& function, const State& state) {
  requires std::same_as<std::remove_cvref_t<decltype(function(state, std::declval<T>()).state)>, State>;
  function(state, std::declval<T>()).value;
};
template <class State, class F, class T>
using ScanValue =
    std::remove_cvref_t<decltype(std::declval<F&>()(std::declval<const State&>(), std::declval<T>()).value)>;

template <class T> std::int64_t bytes_known(const T& value) {
  if constexpr (Bytes<T>::known) return static_cast<std::int64_t>(Bytes<T>::of(value));
  return static_cast<std::int64_t>(sizeof(T));
}

// What throws leaves the state as it was.
template <class State, class F, class T> class ScanStep final : public Step {
 public:
  ScanStep(State state, F function) : state_(std::move(state)), function_(std::move(function)) {}
  bool run(Element& value, std::int64_t) override {
    auto scanned = function_(std::as_const(state_), std::move(value.unchecked<T>()));
    value = Element(ScanValue<State, F, T>(std::move(scanned.value)));
    state_ = std::move(scanned.state);
    return true;
  }
  // Where the state has a Codec and is small, and the function has none of its own.
  bool save(StateWriter& out) const override {
    if constexpr (kIsSaved) {
      if (bytes_known(state_) > kMostSaved) return false;
      std::vector<std::byte> bytes;
      ByteWriter to(bytes);
      to.write(state_);
      out.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    return kIsSaved;
  }
  void restore(StateReader& in) override {
    if constexpr (kIsSaved) {
      const std::string_view bytes = in.text();
      ByteReader from(std::as_bytes(std::span(bytes)));
      state_ = from.template read<State>();
      if (from.rest() > 0)
        throw Error(ErrorCode::data_loss, "the checkpoint says more of a scan's state than its Codec reads");
    }
  }
  // Of what the state refers to: the rest is a part of this object.
  std::int64_t held_bytes() const override {
    if constexpr (!Bytes<State>::known) return 0;
    return static_cast<std::int64_t>(Bytes<State>::of(state_)) - static_cast<std::int64_t>(sizeof(State));
  }

 private:
  static constexpr bool kIsSaved = HasCodec<State> && called_as_const<F, const State&, T>;
  static constexpr std::int64_t kMostSaved = 4096;

  State state_;
  FunctionOfPass<F, const State&, T> function_;
};

template <class State, class F, class T>
concept ReduceFunction = std::is_invocable_r_v<State, F&, State, T> && std::movable<State>;

template <class T>
concept Hashable = std::copy_constructible<T> && std::equality_comparable<T> && requires(const T& value) {
  { std::hash<T>{}(value) } -> std::convertible_to<std::size_t>;
};

// What a set or a map needs for each value beside the value: a node with its links, or with a hash and a bucket, as the
// C++ libraries of GCC and clang have them, and what malloc adds.
inline constexpr std::int64_t kBytesOfNode = 5 * sizeof(void*);

template <class T> class UniqueStep final : public Step {
 public:
  bool run(Element& value, std::int64_t) override {
    const T& element = std::as_const(value).template unchecked<T>();
    const bool is_new = seen_.insert(element).second;
    if (is_new) held_bytes_ += kBytesOfNode + bytes_known(element);
    return is_new;
  }
  std::int64_t held_bytes() const override { return held_bytes_; }

 private:
  std::unordered_set<T> seen_;
  std::int64_t held_bytes_ = 0;
};

}  // namespace detail
}  // namespace penstock

#pragma GCC visibility pop
