#include "lib/runtime/arbiter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace penstock::runtime {
namespace {

// Filled like water: the others, least wish first, get what they wish or an even part of what is left for them and this
// one.
double share_beside(double total, Shares others) {
  std::sort(others.begin(), others.end());
  double left = total;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const double even = left / static_cast<double>(others.size() - i + 1);
    if (others[i] >= even) return even;
    left -= others[i];
  }
  return left;
}

}  // namespace

Shares shares_of(double total, const Claims& claims) {
  Shares shares;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Shares others;
    for (std::size_t j = 0; j < claims.size(); ++j) {
      if (j != i) others.push_back(std::min(claims[j].wish, claims[j].most));
    }
    shares.push_back(std::min(claims[i].most, share_beside(total, std::move(others))));
  }
  return shares;
}

}  // namespace penstock::runtime
