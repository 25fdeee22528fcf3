// In Pillow's order of operations (Resample.c, precompute_coeffs; Geometry.c, ImagingScaleAffine), which decides the last bit.
#include "ops/image/taps.h"

#include <algorithm>
#include <cmath>

namespace penstock::image {
namespace {

constexpr double kOne = 1 << kWeightBits;

struct Triangle {
  static constexpr double support = 1;
  double operator()(double x) const { return std::max(0.0, 1 - std::abs(x)); }
};

struct Cubic {
  static constexpr double support = 2;
  static constexpr double a = -0.5;
  double operator()(double x) const {
    x = std::abs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
  }
};

// Towards zero, after the 0.5 that Pillow adds: not std::lround, which differs for negative numbers.
std::int64_t whole_part(double value) { return static_cast<std::int64_t>(value); }

std::int32_t fixed_point(double weight) {
  return static_cast<std::int32_t>(weight * kOne + (weight < 0 ? -0.5 : 0.5));
}

// Where the weights of the next output go: room for as many as a filter can have.
double* room_for(std::vector<double>& exact, double reach) {
  const auto most = static_cast<std::size_t>(std::ceil(reach)) * 2 + 2;
  if (exact.size() < most) exact.resize(most);
  return exact.data();
}

struct Axis {
  double centre, reach, shrink;  // of the filter; 1 / its scale
  std::int64_t extent;
};

template <class Kernel>
void add_taps(Taps& taps, double* exact, const Axis& axis) {
  const std::int64_t begin = std::max<std::int64_t>(whole_part(axis.centre - axis.reach + 0.5), 0);
  const std::int64_t end = std::min(whole_part(axis.centre + axis.reach + 0.5), axis.extent);
  double total = 0;
  for (std::int64_t x = begin; x < end; ++x) {
    const double weight = Kernel()((static_cast<double>(x) - axis.centre + 0.5) * axis.shrink);
    exact[x - begin] = weight;
    total += weight;
  }
  const std::size_t at = taps.weights.size();
  const std::int64_t count = end - begin;
  taps.spans.push_back({begin, count, at});
  taps.weights.resize(at + static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) taps.weights[at + static_cast<std::size_t>(i)] = fixed_point(exact[i] / total);
}

double scale_of(const Stretch& stretch) {
  return static_cast<double>(stretch.end - stretch.begin) / static_cast<double>(stretch.full);
}

template <class Kernel>
void add_all(Taps& taps, const Stretch& stretch) {
  thread_local std::vector<double> exact;
  const double scale = scale_of(stretch);
  const double filter_scale = std::max(scale, 1.0);
  const double reach = Kernel::support * filter_scale;
  double* const room = room_for(exact, reach);
  for (std::int64_t i = 0; i < stretch.count; ++i) {
    const double centre = stretch.begin + (static_cast<double>(stretch.first + i) + 0.5) * scale;
    add_taps<Kernel>(taps, room, {centre, reach, 1 / filter_scale, stretch.extent});
  }
}

// One pixel each. Pillow adds up the positions, whose roundings decide at exact borders between pixels.
void add_nearest(Taps& taps, const Stretch& stretch) {
  const double scale = scale_of(stretch);
  double at = stretch.begin + scale * 0.5;
  for (std::int64_t i = 0; i < stretch.first; ++i) at += scale;
  for (std::int64_t i = 0; i < stretch.count; ++i, at += scale) {
    taps.spans.push_back({std::clamp<std::int64_t>(whole_part(at), 0, stretch.extent - 1), 1, taps.weights.size()});
    taps.weights.push_back(1 << kWeightBits);
  }
}

void add_all(Taps& taps, const Stretch& stretch, Filter filter) {
  switch (filter) {
    case Filter::nearest: return add_nearest(taps, stretch);
    case Filter::bilinear: return add_all<Triangle>(taps, stretch);
    case Filter::bicubic: return add_all<Cubic>(taps, stretch);
  }
}

}  // namespace

void build_taps(Taps& taps, const Stretch& stretch, Filter filter) {
  taps.spans.clear();
  taps.weights.clear();
  add_all(taps, stretch, filter);
  taps.begin = taps.spans.front().begin;
  taps.end = taps.begin;
  taps.most = 0;
  for (Taps::Span& span : taps.spans) {
    taps.end = std::max(taps.end, span.begin + span.count);
    taps.most = std::max(taps.most, span.count);
    span.begin -= taps.begin;
  }
}

}  // namespace penstock::image
