// Elements of several inputs put together in one: what zip gives. Nothing here is meant to be called by users.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include <penstock/element.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

class TupleMaker {
 public:
  virtual ~TupleMaker() = default;
  virtual std::size_t size() const = 0;
  // One element of as many; moves from them.
  virtual Element make(std::span<Element> parts) const = 0;
};
using TupleMakerRef = std::shared_ptr<const TupleMaker>;

// Into: std::tuple<T...>, or an aggregate of these types.
template <class Into, class... T> class TypedTupleMaker final : public TupleMaker {
 public:
  std::size_t size() const override { return sizeof...(T); }
  Element make(std::span<Element> parts) const override { return make(parts, std::index_sequence_for<T...>()); }

 private:
  template <std::size_t... I> static Element make(std::span<Element> parts, std::index_sequence<I...>) {
    return Element(Into{std::move(parts[I].template unchecked<T>())...});
  }
};

}  // namespace penstock::detail

#pragma GCC visibility pop
