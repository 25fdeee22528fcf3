// How long elements are: what bucket_by_sequence_length asks of them. Nothing here is meant to be called by users.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/functions.h>
#include <penstock/detail/made.h>
#include <penstock/detail/steps.h>
#include <penstock/element.h>
#include <penstock/padded_batch.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// One for each pass.
class ElementLength {
 public:
  virtual ~ElementLength() = default;
  virtual std::int64_t of(const Element& element) = 0;
  virtual bool has_state() const noexcept = 0;  // the function, so that another one's answers may differ
};
class ElementLengthFactory {
 public:
  virtual ~ElementLengthFactory() = default;
  virtual std::unique_ptr<ElementLength> open() const = 0;
};
using ElementLengthFactoryRef = std::shared_ptr<const ElementLengthFactory>;

// BucketOptions that hang on no type.
struct Buckets {
  std::vector<std::int64_t> boundaries, batch_sizes;
  bool pad_to_bucket_boundary = false, drop_remainder = false;
};
template <class T> Buckets buckets_of(const BucketOptions<T>& options) {
  return {options.bucket_boundaries, options.bucket_batch_sizes, options.pad_to_bucket_boundary,
          options.drop_remainder};
}

// One for each bucket.
template <class T>
std::vector<BatchFactoryRef> factories_of_buckets(const Padding& padding, const BucketOptions<T>& options) {
  std::vector<BatchFactoryRef> factories;
  for (const Padding& each : paddings_of_buckets(padding, options.bucket_boundaries, options.pad_to_bucket_boundary))
    factories.push_back(std::make_shared<TypedBatchFactory<T, PaddedCollate<T>, Padding>>(each));
  return factories;
}

template <class F, class T>
concept LengthFunction = HasFunctionOfPass<F, const T&> && requires(F& function, const T& value) {
  { function(value) } -> std::integral;
};

template <class F, class T> class LengthByFunction final : public ElementLength {
 public:
  explicit LengthByFunction(FunctionOfPass<F, const T&> function) : function_(std::move(function)) {}
  std::int64_t of(const Element& element) override {
    const auto length = function_(element.unchecked<T>());
    const auto as_signed = static_cast<std::int64_t>(length);
    const bool is_larger = length > decltype(length){} && as_signed < 0;
    return is_larger ? std::numeric_limits<std::int64_t>::max() : as_signed;
  }
  bool has_state() const noexcept override { return !called_as_const<F, const T&>; }

 private:
  FunctionOfPass<F, const T&> function_;
};
template <class F, class T> class LengthByFunctionFactory final : public ElementLengthFactory {
 public:
  explicit LengthByFunctionFactory(F function) : function_(std::move(function)) {}
  std::unique_ptr<ElementLength> open() const override {
    return made<ElementLength, LengthByFunction<F, T>>(function_);
  }

 private:
  const FunctionOfPass<F, const T&> function_;
};
template <class T, class F> ElementLengthFactoryRef length_by_function(F function) {
  return made_shared<ElementLengthFactory, LengthByFunctionFactory<F, T>>(std::move(function));
}

}  // namespace penstock::detail

#pragma GCC visibility pop
