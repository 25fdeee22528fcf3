#include "bench/engine/cases.h"

namespace penstock::bench {
namespace {

constexpr Case kCases[] = {
    {"slope", "ns per element and stage over chains of 0 to 6 trivial maps", run_slope},
    {"whole", "short whole pipelines: ns per element over all stages", run_whole},
    {"two_maps", "two ordered maps of 1 to 300 us against plain threads", run_two_maps},
};

}  // namespace

std::span<const Case> all_cases() { return kCases; }

}  // namespace penstock::bench
