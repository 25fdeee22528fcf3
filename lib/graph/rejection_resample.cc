#include <penstock/rejection_resample.h>

#include <penstock/codec.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "lib/base/text.h"
#include "lib/graph/node.h"

namespace penstock::detail {
namespace {

// As tf.data's smoothing_constant: so that the first elements do not all stay.
constexpr double kCountedBefore = 10;

// Keeps the draws apart from those of other ops that a user has given the same seed.
constexpr std::uint64_t stream_of_resampling = 0x726573616D706C65;  // "resample"

std::string fault_of(const std::string& name, const std::vector<double>& shares) {
  const auto wrong = std::ranges::find_if(shares, [](double share) { return !std::isfinite(share) || share < 0; });
  if (wrong != shares.end())
    return "the shares of " + name + " must be finite and at least 0, but one is " + std::to_string(*wrong);
  if (std::ranges::all_of(shares, [](double share) { return share == 0; }))
    return name + " must have a share above 0 for at least one class";
  return {};
}

std::string fault_of_both(const std::vector<double>& target, const std::vector<double>& initial) {
  if (std::string fault = fault_of("target", target); !fault.empty()) return fault;
  if (initial.empty()) return {};
  if (initial.size() != target.size()) {
    return "initial and target must have a share for each class, but there are " + std::to_string(initial.size()) +
           " and " + std::to_string(target.size());
  }
  if (std::string fault = fault_of("initial", initial); !fault.empty()) return fault;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] > 0 && initial[i] == 0)
      return "class " + std::to_string(i) + " is wanted, but never comes: its share of initial is 0";
  }
  return {};
}

// So that quotients of them are numbers. Below 2^-500 a share is as good as none.
void bring_to_one(std::vector<double>& shares) {
  if (shares.empty()) return;
  const double most = *std::ranges::max_element(shares);
  for (double& share : shares) share = share > 0 ? std::max(share / most, 0x1p-500) : 0;
}

std::string to_text(const std::vector<double>& shares) {
  constexpr std::size_t kFew = 8;
  if (shares.size() > kFew)
    return std::to_string(shares.size()) + " shares " + short_text_of(std::as_bytes(std::span(shares)));
  std::string text;
  for (const double share : shares) text += (text.empty() ? "" : "/") + shortest_text(share);
  return text;
}

}  // namespace

ClassShares::ClassShares(const graph::NodeRef& input, std::vector<double> target, std::vector<double> initial,
                         CallSite site)
    : target_(std::move(target)), given_(std::move(initial)), are_counted_(given_.empty()) {
  if (const std::string fault = fault_of_both(target_, given_); !fault.empty())
    graph::fail(input, "rejection_resample", site, fault);
  bring_to_one(target_);
  bring_to_one(given_);
  if (are_counted_) given_.assign(target_.size(), kCountedBefore);
  find_scarcest();
}

std::string ClassShares::text() const {
  return "target=" + to_text(target_) + (are_counted_ ? ", counted" : ", initial=" + to_text(given_));
}

// What is counted gets more with each element, so only the scarcest can become less scarce than another one.
void ClassShares::count(std::size_t class_number) noexcept {
  ++given_[class_number];
  if (class_number == scarcest_) find_scarcest();
}

// What never comes is not wanted, either.
void ClassShares::find_scarcest() noexcept {
  for (std::size_t i = 0; i < classes(); ++i) {
    if (target_[i] > 0 && (target_[scarcest_] == 0 || wanted(i) > wanted(scarcest_))) scarcest_ = i;
  }
}

std::size_t checked_class(std::int64_t class_number, std::size_t classes) {
  if (class_number >= 0 && static_cast<std::uint64_t>(class_number) < classes)
    return static_cast<std::size_t>(class_number);
  throw Error(ErrorCode::invalid_argument, "the class is " + std::to_string(class_number) +
                                               ", but there are shares for " + std::to_string(classes) +
                                               " classes, 0 to " + std::to_string(classes - 1));
}

double draw_of(const std::optional<std::uint64_t>& seed, const Context& context) noexcept {
  if (!seed) return context.rng().uniform();
  const Stamp& stamp = context.stamp();
  return make_rng(mix64(*seed ^ stream_of_resampling), stamp.epoch, stamp.pass, stamp.ordinal, stamp.sub).uniform();
}

}  // namespace penstock::detail
