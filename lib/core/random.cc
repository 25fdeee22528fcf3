#include <penstock/error.h>
#include <penstock/random.h>

#include <random>

namespace penstock {

static_assert(std::uniform_random_bit_generator<CounterRng>);

void detail::throw_empty_range() { throw Error(ErrorCode::invalid_argument, "uniform(lo, hi) needs lo < hi"); }

}  // namespace penstock
