// Elements that somebody keeps, and others read: what cache gives again and again. Nothing here is meant to be called
// by users.
#pragma once

#include <memory>

#include <penstock/element.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

class Lender {
 public:
  virtual ~Lender() = default;
  // Refers to the value of `kept`, which must outlive it; own() makes a copy of it.
  virtual Element lend(const Element& kept) const = 0;
};
using LenderRef = std::shared_ptr<const Lender>;

template <class T> class TypedLender final : public Lender {
 public:
  Element lend(const Element& kept) const override { return Element::referring_to(kept.unchecked<T>()); }
};

}  // namespace penstock::detail

#pragma GCC visibility pop
