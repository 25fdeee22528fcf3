// Callables that give one element after the other: what from_generator() takes, and what a function of interleave() or
// flat_map() may give. Nothing here is meant to be called by users.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <penstock/context.h>
#include <penstock/detail/functions.h>
#include <penstock/detail/made.h>
#include <penstock/element.h>
#include <penstock/op.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// A generator is called with the run's Context if it takes one.
template <class G>
concept Generates = std::invocable<G&, Context&> || std::invocable<G&>;
template <class G> decltype(auto) generate_one(G& generator, Context& context) {
  if constexpr (std::invocable<G&, Context&>) {
    return generator(context);
  } else {
    return generator();
  }
}

template <class R> inline constexpr bool is_optional = false;
template <class T> inline constexpr bool is_optional<std::optional<T>> = true;

template <class G>
using GeneratedOptional = std::remove_cvref_t<decltype(generate_one(std::declval<G&>(), std::declval<Context&>()))>;

// Called for one element after the other, and each call gives one or the end.
template <class G>
concept Generator = Generates<G> && is_optional<GeneratedOptional<G>>;

template <class G> using Generated = typename GeneratedOptional<G>::value_type;

template <class G> std::optional<Element> next_of(G& generator, Context& context) {
  auto value = generate_one(generator, context);
  if (!value) return std::nullopt;
  return Element(std::move(*value));
}

// Of a generator that is read once, so it need not be copyable.
template <class G> class ReadOnce final : public GeneratorFactory {
 public:
  explicit ReadOnce(G generator) : generator_(made<SourceReader, Reader>(std::move(generator))) {}
  std::unique_ptr<SourceReader> open() const override { return std::move(generator_); }

 private:
  class Reader final : public SourceReader {
   public:
    explicit Reader(G generator) : generator_(std::move(generator)) {}
    void begin_pass(std::uint32_t, std::uint32_t) override {}
    std::optional<Element> next(Context& context) override { return next_of(generator_, context); }

   private:
    G generator_;
  };

  mutable std::unique_ptr<SourceReader> generator_;  // until it is opened, which one dataset does
};

}  // namespace penstock::detail

#pragma GCC visibility pop
