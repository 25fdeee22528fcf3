// Arbiter: what each of several runs may count on of something that they share: CPUs, threads for blocking calls.
//
// It divides nothing by force. The gate and the pool keep all runs together within what there is, and serve them in
// turn; a share tells a run's controller how much to plan with, so that two at once do not both plan with all of it.
#pragma once

#include <vector>

#include <penstock/detail/pooled.h>

namespace penstock::runtime {

// Of one run.
struct Claim {
  double most = 0;  // that it may have at all
  double wish = 0;  // that it would use now
};

// Made ten times a second.
using Claims = std::vector<Claim, detail::PooledAllocator<Claim>>;
using Shares = std::vector<double, detail::PooledAllocator<double>>;

// Max-min fair: what the others wish is theirs as far as that is no more than this run would get itself. So a run may
// count on all that the others leave, and on its even share in any case: `total` divided by the number of runs. The
// shares of runs that wish for less than they might have add up to more than `total`.
Shares shares_of(double total, const Claims& claims);

}  // namespace penstock::runtime
