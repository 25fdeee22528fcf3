#include "autotune/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::autotune {
namespace {

constexpr int kHalvings = 30;        // of the interval of the rate: to 1e-9 of it
constexpr double kRounding = 1e-3;   // calls
constexpr double kNoBound = std::numeric_limits<double>::infinity();

double at_least_one(double rate, double call_s) { return std::max(1.0, staffing(rate * call_s)); }

// Not above `high`; `taken` rises with the rate.
template <class Taken>
double highest_rate(double high, double room, const Taken& taken) {
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

double bytes_at(const std::vector<Holding>& stages, double rate) {
  double mean = 0, variance = 0;
  for (const Holding& stage : stages) {
    const double held = stage.bytes * rate * stage.call_s;
    mean += held;
    variance += stage.bytes * held;
  }
  return mean + std::sqrt(variance);
}

double rate_for_memory(const std::vector<Holding>& stages, double rate, double bytes) {
  for (const Holding& stage : stages) {
    const double held = stage.bytes * stage.call_s;
    if (held > 0) rate = std::min(rate, bytes / held);
  }
  return highest_rate(rate, bytes, [&](double middle) { return bytes_at(stages, middle); });
}

double rate_that_fills(const std::vector<Holding>& stages, double bytes) {
  double held = 0;
  for (const Holding& stage : stages) held += stage.bytes * stage.call_s;
  return held > 0 ? bytes / held : kNoBound;
}

double level_of(std::vector<double> wanted, double bytes) {
  std::ranges::sort(wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double each = bytes / static_cast<double>(wanted.size() - i);
    if (wanted[i] > each) return each;
    bytes -= wanted[i];
  }
  return kNoBound;
}

}  // namespace penstock::autotune
