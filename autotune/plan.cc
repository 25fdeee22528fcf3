#include "autotune/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::autotune {
namespace {

constexpr int kHalvings = 30;       // of the interval of the rate: to 1e-9 of it
constexpr double kRounding = 1e-3;  // calls
constexpr double kNoBound = std::numeric_limits<double>::infinity();

double at_least_one(double rate, double call_s) { return std::max(1.0, staffing(rate * call_s)); }

// Not above `high`; `taken` rises with the rate.
template <class Taken> double highest_rate(double high, double room, const Taken& taken) {
  if (!std::isfinite(high) || taken(high) <= room) return high;
  double low = 0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (taken(middle) <= room ? low : high) = middle;
  }
  return low;
}

}  // namespace

double staffing(double calls) { return calls + std::sqrt(calls); }

double rate_for_threads(const std::vector<double>& call_s, double threads) {
  // Each has one call, however few are allowed: no rate would do with less.
  threads = std::max(threads, static_cast<double>(call_s.size()));
  double high = kNoBound;
  for (const double each : call_s) high = each > 0 ? std::min(high, threads / each) : high;
  return highest_rate(high, threads, [&](double rate) {
    double sum = 0;
    for (const double each : call_s) sum += at_least_one(rate, each);
    return sum;
  });
}

std::int64_t calls_at(double rate, double call_s) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(at_least_one(rate, call_s) + kRounding));
}

double rate_for_memory(const std::vector<MemoryUse>& stages, double rate, double bytes) {
  double mean = 0, variance = 0;  // at one element a second
  for (const MemoryUse& stage : stages) {
    mean += stage.bytes * stage.call_s;
    variance += stage.bytes * stage.bytes * stage.call_s;
  }
  if (!(mean > 0)) return rate;
  // mean x + sqrt(variance x) = bytes, solved for sqrt(x).
  const double root = (std::sqrt(variance + 4 * mean * bytes) - std::sqrt(variance)) / (2 * mean);
  return std::min(rate, root * root);
}

double held_by(const std::vector<MemoryUse>& stages) {
  double sum = 0;
  for (const MemoryUse& stage : stages) sum += stage.bytes * stage.calls;
  return sum;
}

}  // namespace penstock::autotune
