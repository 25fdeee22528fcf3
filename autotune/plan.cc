#include "autotune/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::autotune {
namespace {

constexpr int kHalvings = 40;        // of the interval of the rate: to 1e-12 of it
constexpr double kRounding = 1e-3;   // calls

double at_least_one(double rate, double call_s) { return call_s > 0 ? std::max(1.0, staffing(rate * call_s)) : 0; }

double calls_of_all(double rate, const std::vector<double>& call_s) {
  double sum = 0;
  for (const double each : call_s) sum += at_least_one(rate, each);
  return sum;
}

}  // namespace

double staffing(double calls) { return calls + std::sqrt(calls); }

double affordable_rate(const std::vector<double>& call_s, double most) {
  const double slowest = call_s.empty() ? 0 : *std::ranges::max_element(call_s);
  if (!(slowest > 0)) return std::numeric_limits<double>::infinity();
  // Each has one call, however few are allowed: no rate would do with less.
  most = std::max(most, static_cast<double>(std::ranges::count_if(call_s, [](double each) { return each > 0; })));
  double low = 0, high = most / slowest;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (calls_of_all(middle, call_s) <= most ? low : high) = middle;
  }
  return low;
}

double AffordableRate::rate(const std::vector<double>& call_s, double most) {
  if (most == most_ && call_s == call_s_) return rate_;
  call_s_ = call_s;
  most_ = most;
  return rate_ = affordable_rate(call_s, most);
}

std::int64_t calls_at(double rate, double call_s) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(at_least_one(rate, call_s) + kRounding));
}

}  // namespace penstock::autotune
