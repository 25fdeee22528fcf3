#include <penstock/random_split.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>

#include "lib/graph/node.h"
#include "lib/graph/traits.h"

namespace penstock::detail {
namespace {

constexpr double kRoundedSum = 1e-9;  // how far a sum of fractions may be from 1

bool differs_from_pass_to_pass(const graph::Use& use) {
  const auto* calls = use.node->as<ElementwiseOp>();
  return use.node->as<graph::ShufflesOrder>() != nullptr || (calls != nullptr && calls->order() == Order::arbitrary);
}

std::string conflict(const graph::NodeRef& input, const std::vector<double>& fractions) {
  if (fractions.empty()) return "there are no fractions: give one for each part, as in {0.9, 0.1}";
  for (const double fraction : fractions) {
    if (!std::isfinite(fraction) || fraction <= 0)
      return "fractions must be above 0, but one is " + std::to_string(fraction);
  }
  const double sum = std::accumulate(fractions.begin(), fractions.end(), 0.0);
  if (std::abs(sum - 1) > kRoundedSum) return "the sum of the fractions must be 1, but is " + std::to_string(sum);
  if (input->flow().cardinality < 0)
    return "it is unknown how many elements there are, or they never end: split before the op that makes it so, or "
           "tell by assert_cardinality()";
  const std::vector<graph::Use> all = graph::uses(input);
  const auto draws = std::ranges::find_if(all, differs_from_pass_to_pass);
  if (draws == all.end()) return {};
  return "the parts would have other elements in each epoch, because " + graph::named(*draws) +
         " does not keep one order: split before it, and shuffle the parts";
}

}  // namespace

std::vector<std::int64_t> split_lengths(const graph::NodeRef& input, const std::vector<double>& fractions,
                                        CallSite site) {
  if (const std::string problem = conflict(input, fractions); !problem.empty())
    graph::fail(input, "random_split", site, problem);
  const std::int64_t count = input->flow().cardinality;
  std::vector<std::int64_t> lengths;
  std::int64_t left = count;
  for (const double fraction : fractions) {
    lengths.push_back(std::min(left, static_cast<std::int64_t>(std::floor(static_cast<double>(count) * fraction))));
    left -= lengths.back();
  }
  const std::int64_t parts = std::ssize(lengths);
  for (std::int64_t part = 0; part < parts; ++part)
    lengths[static_cast<std::size_t>(part)] += left / parts + (part < left % parts ? 1 : 0);
  return lengths;
}

}  // namespace penstock::detail
