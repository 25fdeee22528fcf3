// Copies that share nothing that a function may change: what cache keeps, and what it gives. A copy of a ps::Tensor by
// its constructor is another owner of the same memory. Nothing here is meant to be called by users.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/element.h>
#include <penstock/fields.h>
#include <penstock/ragged_batch.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// Of what is known to hold tensors it copies these, too: structs by their Fields. A shared_ptr goes on to share.
template <class T> struct DeepCopy {
  static void own(T& copy) {
    if constexpr (HasFields<T>) for_each_field(copy, []<class Field>(Field& field) { DeepCopy<Field>::own(field); });
  }
};
template <> struct DeepCopy<Tensor> {
  static void own(Tensor& copy) {
    Tensor own(copy.dtype(), copy.shape());
    if (copy.bytes() > 0) std::memcpy(own.data(), copy.data(), copy.bytes());
    copy = std::move(own);
  }
};
template <class T> struct DeepCopy<std::vector<T>> {
  static void own(std::vector<T>& copy) {
    if constexpr (!std::is_trivially_copyable_v<T>) {
      for (T& value : copy) DeepCopy<T>::own(value);
    }
  }
};
template <class T, std::size_t N> struct DeepCopy<std::array<T, N>> {
  static void own(std::array<T, N>& copy) {
    for (T& value : copy) DeepCopy<T>::own(value);
  }
};
template <class T> struct DeepCopy<Rows<T>> : DeepCopy<std::vector<T>> {};
template <class T> struct DeepCopy<std::optional<T>> {
  static void own(std::optional<T>& copy) {
    if (copy) DeepCopy<T>::own(*copy);
  }
};
template <class A, class B> struct DeepCopy<std::pair<A, B>> {
  static void own(std::pair<A, B>& copy) {
    DeepCopy<A>::own(copy.first);
    DeepCopy<B>::own(copy.second);
  }
};
template <class... T> struct DeepCopy<std::tuple<T...>> {
  static void own(std::tuple<T...>& copy) {
    std::apply([](T&... part) { (DeepCopy<T>::own(part), ...); }, copy);
  }
};
template <class V> struct DeepCopy<Ragged<V>> {
  static void own(Ragged<V>& copy) { DeepCopy<V>::own(copy.values); }
};
template <class T, template <class> class Together> struct DeepCopy<StructBatch<T, Together>> {
  static void own(StructBatch<T, Together>& copy) {
    DeepCopy<std::remove_cvref_t<decltype(copy.columns())>>::own(copy.columns());
  }
};

// Copies elements of a type that it knows. Any thread.
class Copier {
 public:
  virtual ~Copier() = default;
  virtual Element copy(const Element& kept) const = 0;
};
using CopierRef = std::shared_ptr<const Copier>;

template <class T> class TypedCopier final : public Copier {
 public:
  Element copy(const Element& kept) const override {
    T copy(kept.unchecked<T>());
    DeepCopy<T>::own(copy);
    return Element(std::move(copy));
  }
};

}  // namespace penstock::detail

#pragma GCC visibility pop
