// Other shares of classes than a dataset has: rare ones as often as common ones, say.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/call_site.h>
#include <penstock/context.h>
#include <penstock/dataset.h>
#include <penstock/detail/functions.h>
#include <penstock/detail/unavailable.h>
#include <penstock/graph.h>
#include <penstock/ops.h>
#include <penstock/random.h>

#pragma GCC visibility push(default)

namespace penstock {

struct ResampleOptions {
  std::vector<double> initial = {};  // shares of the classes in the dataset, in any unit. None: counted as they come
  std::optional<std::uint64_t> seed = std::nullopt;  // of what is left out; none: RunOptions::seed
};

namespace detail {

// How often each class comes in and is to come out, and so the chance of an element to stay.
class ClassShares {
 public:
  // GraphError of a rejection_resample behind `input`.
  ClassShares(const graph::NodeRef& input, std::vector<double> target, std::vector<double> initial, CallSite site);

  bool are_counted() const noexcept { return are_counted_; }
  std::size_t classes() const noexcept { return target_.size(); }
  double chance_of(std::size_t class_number) const noexcept { return wanted(class_number) / wanted(scarcest_); }
  void count(std::size_t class_number) noexcept;  // one more has come
  std::string text() const;                       // of what was given, as pipelines are compared

 private:
  double wanted(std::size_t class_number) const noexcept { return target_[class_number] / given_[class_number]; }
  void find_scarcest() noexcept;

  std::vector<double> target_, given_;
  bool are_counted_;
  std::size_t scarcest_ = 0;  // all of this class stay
};

std::size_t checked_class(std::int64_t class_number, std::size_t classes);                  // Error(invalid_argument)
double draw_of(const std::optional<std::uint64_t>& seed, const Context& context) noexcept;  // in [0, 1)

template <class F, class T>
concept ClassFunction = requires(const F& function, const T& value) {
  { function(value) } -> std::integral;
};

// Shared by all calls.
template <class F> struct Resampling {
  F class_of;
  ClassShares shares;
  std::optional<std::uint64_t> seed;

  template <class T> std::size_t class_number(const T& value) const {
    return checked_class(static_cast<std::int64_t>(class_of(value)), shares.classes());
  }
};

template <class F> class StaysByShare {
 public:
  explicit StaysByShare(std::shared_ptr<const Resampling<F>> how) : how_(std::move(how)) {}
  template <class T> bool operator()(const T& value, Context& context) const {
    return draw_of(how_->seed, context) < how_->shares.chance_of(how_->class_number(value));
  }

 private:
  std::shared_ptr<const Resampling<F>> how_;
};

// Each pass counts anew.
template <class F> class StaysByCount {
 public:
  explicit StaysByCount(std::shared_ptr<const Resampling<F>> how) : how_(std::move(how)), shares_(how_->shares) {}
  template <class T> bool operator()(const T& value, Context& context) {
    const std::size_t class_number = how_->class_number(value);
    shares_.count(class_number);
    return draw_of(how_->seed, context) < shares_.chance_of(class_number);
  }

 private:
  std::shared_ptr<const Resampling<F>> how_;
  ClassShares shares_;
};

}  // namespace detail

// Some of the elements, so drawn that class k has the share target[k] of what stays: class_of(const T&), a whole number
// from 0 on, tells the class of an element. Of the class that is scarcest, measured by what is wanted, all elements
// stay, and of the others so many as go with them; nothing comes twice. target, in any unit, has a number for each
// class; 0: none of it stays.
//   const auto is_tenth = [](std::int64_t number) { return number % 10 == 0; };
//   auto even = ps::rejection_resample(ps::range(1000), is_tenth, {0.5, 0.5}, {.initial = {0.9, 0.1}});
//
// With `initial` it is a filter: class_of must be thread-safe, and calls run in parallel. Without, classes are counted
// from the start of each pass, as if ten of each had come before; the first elements are then drawn by shares that are
// not known well, calls come one after the other, and a run that is resumed runs its pass again from the start. Which
// elements stay depends on the seed, the epoch, the pass and their place in the source, and where classes are counted
// on the elements before; never on threads.
//
// An element of another class is an error in its place (invalid_argument). GraphError for shares that are none: below
// 0, all 0, or a class that is wanted but never comes (initial 0).
template <class T, class F>
requires detail::ClassFunction<F, T> Dataset<T> rejection_resample(const Dataset<T>& dataset, F class_of,
                                                                   std::vector<double> target,
                                                                   ResampleOptions options = {},
                                                                   CallSite site = CallSite::here()) {
  detail::ClassShares shares(dataset.node(), std::move(target), std::move(options.initial), site);
  const bool are_counted = shares.are_counted();
  std::string settings = shares.text() + (options.seed ? ", seed=" + std::to_string(*options.seed) : "");
  const auto how = std::make_shared<const detail::Resampling<F>>(
      detail::Resampling<F>{std::move(class_of), std::move(shares), options.seed});
  return Dataset<T>(graph::build(dataset.node(), "rejection_resample", site, [&] {
    if (are_counted)
      return ops::filter(detail::function_ref<detail::FilterFunction, T>(detail::StaysByCount<F>(how)),
                         {.parallelism = 1, .name = "rejection_resample"}, std::move(settings));
    return ops::filter(detail::function_ref<detail::FilterFunction, T>(detail::StaysByShare<F>(how)),
                       {.name = "rejection_resample"}, std::move(settings));
  }));
}

// What the compiler says of another function: see detail/refused.h.
template <class T, class F>
requires(!detail::ClassFunction<F, T>) PENSTOCK_UNAVAILABLE(
    "rejection_resample(): class_of must be a function f(const T&) of the dataset's T that gives a whole number, the "
    "class, from 0 on; and not a mutable lambda")
Dataset<T> rejection_resample(const Dataset<T>& dataset, F, std::vector<double>, const ResampleOptions& = {}) {
  return dataset;
}

}  // namespace penstock

#pragma GCC visibility pop
