#include "ops/image/simd.h"

#include <penstock/error.h>

#include <algorithm>
#include <array>
#include <string>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "ops/image/simd_targets.h"
#include <hwy/targets.h>

namespace penstock::image {
namespace {

struct Known {
  Simd simd;
  std::int64_t needs;  // bits of hwy::SupportedTargets()
};

// In the order of PENSTOCK_CHOOSE_KERNELS.
#if defined(__x86_64__)
constexpr std::array known{Known{Simd::scalar, 0}, Known{Simd::sse4, HWY_SSE4}, Known{Simd::avx2, HWY_AVX2},
                           Known{Simd::avx512, HWY_AVX3_DL}};
#else
constexpr std::array known{Known{Simd::scalar, 0}, Known{Simd::neon, HWY_STATIC_TARGET}};
#endif

// Highway 1.0.3 gives the functions of AVX3_DL the AVX-VNNI of other CPUs, too (resize_vnni.h). g++ makes no use of
// what is not written; clang does, and a CPU without it (Zen 4, Ice Lake) stops there. Bit 4 of EAX: Intel's manual,
// volume 2A, CPUID, leaf 7, sub-leaf 1.
bool may_run_avx512() {
#if defined(__x86_64__) && defined(__clang__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 4 & 1) == 1;
#else
  return true;
#endif
}

std::int64_t supported_targets() {
  const std::int64_t here = hwy::SupportedTargets();
  return may_run_avx512() ? here : here & ~std::int64_t{HWY_AVX3_DL};
}

// Asked once: Highway asks the CPU each time, which takes some 30 us under a hypervisor.
bool is_supported(const Known& one) {
  static const std::int64_t here = supported_targets();
  return (here & one.needs) == one.needs;
}

std::size_t best_index() {
  static const std::size_t best =
      static_cast<std::size_t>(std::find_if(known.rbegin(), known.rend(), is_supported).base() - known.begin() - 1);
  return best;
}

}  // namespace

std::string_view to_string(Simd simd) noexcept {
  constexpr std::array<std::string_view, 6> names{"auto", "scalar", "sse4", "avx2", "avx512", "neon"};
  return names[static_cast<std::size_t>(simd)];
}

std::vector<Simd> supported_simd() {
  std::vector<Simd> all;
  for (const Known& one : known)
    if (is_supported(one)) all.push_back(one.simd);
  return all;
}

Simd best_simd() { return known[best_index()].simd; }

std::size_t kernel_index(Simd wanted) {
  if (wanted == Simd::automatic) return best_index();
  const auto at = std::find_if(known.begin(), known.end(), [wanted](const Known& one) { return one.simd == wanted; });
  if (at != known.end() && is_supported(*at)) return static_cast<std::size_t>(at - known.begin());
  throw Error(ErrorCode::invalid_argument, "simd: this CPU or build has no " + std::string(to_string(wanted)) +
                                               "; take automatic, or one of supported_simd()");
}

}  // namespace penstock::image
