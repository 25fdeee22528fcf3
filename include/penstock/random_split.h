// Parts of a dataset that have no element in common: for training and for validation.
#pragma once

#include <cstdint>
#include <vector>

#include <penstock/call_site.h>
#include <penstock/dataset.h>
#include <penstock/graph.h>

#pragma GCC visibility push(default)

namespace penstock {

namespace detail {
// Elements of each part. GraphError as random_split().
std::vector<std::int64_t> split_lengths(const graph::NodeRef& input, const std::vector<double>& fractions,
                                        CallSite site);
}  // namespace detail

// A part for each fraction, of elements that are drawn at random: the same ones in each epoch, run and process with
// this seed, and in the same order. Shuffle the parts to have another order in each epoch.
//   const auto parts = ps::random_split(ps::list_files("photos"), {0.9, 0.1}, 7);
//   const auto train = parts[0].shuffle(ps::UNKNOWN_CARDINALITY, {.seed = 1}).map(read, {.blocks = true});
//   const auto validation = parts[1].map(read, {.blocks = true});
//
// The fractions are above 0, and their sum is 1. Each part has its fraction of the elements, rounded down; what is left
// over goes to the first parts, one each. Over a source that can be indexed positions are split, at no cost; else each
// part holds all elements, so split before maps. GraphError if it is not known how many elements there are, and behind
// what draws at random itself (shuffle, sample_from) or lets elements leave in any order (Order::arbitrary): a part
// would have other elements in each epoch. What a function draws (rejection_resample, a filter by Context::rng()) is
// not seen, and what fails is in no part: its error comes in each of them, and moves what comes behind it from part to
// part. So split lists, before all that.
template <class T>
std::vector<Dataset<T>> random_split(const Dataset<T>& dataset, const std::vector<double>& fractions,
                                     std::uint64_t seed, CallSite site = CallSite::here()) {
  const auto lengths = detail::split_lengths(dataset.node(), fractions, site);
  const auto drawn = dataset.shuffle(UNKNOWN_CARDINALITY, {.seed = seed, .reshuffle_each_epoch = false}, site);
  std::vector<Dataset<T>> parts;
  std::int64_t begin = 0;
  for (const std::int64_t length : lengths) {
    parts.push_back(drawn.skip(begin, site).take(length, site));
    begin += length;
  }
  return parts;
}

}  // namespace penstock

#pragma GCC visibility pop
