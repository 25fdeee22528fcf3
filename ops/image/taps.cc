// In Pillow's order of operations (Resample.c, precompute_coeffs; Geometry.c, ImagingScaleAffine), which decides the
// last bit.
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

std::int32_t fixed_point(double weight) { return static_cast<std::int32_t>(weight * kOne + (weight < 0 ? -0.5 : 0.5)); }

// A filter laid over one axis.
struct Axis {
  explicit Axis(const Stretch& of, double support)
      : stretch(of),
        scale(static_cast<double>(of.end - of.begin) / static_cast<double>(of.full)),
        shrink(1 / std::max(scale, 1.0)),
        reach(support * std::max(scale, 1.0)) {}

  // Where output i of those wanted lies on the input.
  double centre(std::int64_t i) const { return stretch.begin + (static_cast<double>(stretch.first + i) + 0.5) * scale; }

  // The input under the filter there.
  Used used(double at) const {
    return {std::max<std::int64_t>(whole_part(at - reach + 0.5), 0),
            std::min(whole_part(at + reach + 0.5), stretch.extent)};
  }

  const Stretch& stretch;
  double scale;
  double shrink;  // of distances, to those of the filter
  double reach;   // to each side
};

// Where the weights of the next output go: room for as many as a filter can have.
double* room_for(double reach) {
  thread_local std::vector<double> exact;
  const auto most = static_cast<std::size_t>(std::ceil(reach)) * 2 + 2;
  if (exact.size() < most) exact.resize(most);
  return exact.data();
}

template <class Kernel> void add_taps(Taps& taps, double* exact, const Axis& axis, double centre) {
  const auto [begin, end] = axis.used(centre);
  double total = 0;
  for (std::int64_t x = begin; x < end; ++x) {
    const double weight = Kernel()((static_cast<double>(x) - centre + 0.5) * axis.shrink);
    exact[x - begin] = weight;
    total += weight;
  }
  taps.spans.push_back({begin, end - begin, taps.weights.size()});
  for (std::int64_t i = 0; i < end - begin; ++i) taps.weights.push_back(fixed_point(exact[i] / total));
}

template <class Kernel> void add_all(Taps& taps, const Stretch& stretch) {
  const Axis axis(stretch, Kernel::support);
  double* const room = room_for(axis.reach);
  for (std::int64_t i = 0; i < stretch.count; ++i) add_taps<Kernel>(taps, room, axis, axis.centre(i));
}

template <class Kernel> Used used_by(const Stretch& stretch) {
  const Axis axis(stretch, Kernel::support);
  return {axis.used(axis.centre(0)).begin, axis.used(axis.centre(stretch.count - 1)).end};
}

// One pixel each. Pillow adds up the positions, whose roundings decide at exact borders between pixels.
template <class See> void for_each_nearest(const Stretch& stretch, const See& see) {
  const Axis axis(stretch, 0);
  double at = stretch.begin + axis.scale * 0.5;
  for (std::int64_t i = 0; i < stretch.first; ++i) at += axis.scale;
  for (std::int64_t i = 0; i < stretch.count; ++i, at += axis.scale)
    see(std::clamp<std::int64_t>(whole_part(at), 0, stretch.extent - 1));
}

void add_nearest(Taps& taps, const Stretch& stretch) {
  for_each_nearest(stretch, [&taps](std::int64_t x) {
    taps.spans.push_back({x, 1, taps.weights.size()});
    taps.weights.push_back(1 << kWeightBits);
  });
}

Used used_by_nearest(const Stretch& stretch) {
  Used used{stretch.extent, 0};
  for_each_nearest(stretch, [&used](std::int64_t x) { used = {std::min(used.begin, x), std::max(used.end, x + 1)}; });
  return used;
}

void add_all(Taps& taps, const Stretch& stretch, Filter filter) {
  switch (filter) {
    case Filter::nearest: return add_nearest(taps, stretch);
    case Filter::bilinear: return add_all<Triangle>(taps, stretch);
    case Filter::bicubic: return add_all<Cubic>(taps, stretch);
  }
}

}  // namespace

Used used_input(const Stretch& stretch, Filter filter) {
  switch (filter) {
    case Filter::nearest: return used_by_nearest(stretch);
    case Filter::bilinear: return used_by<Triangle>(stretch);
    case Filter::bicubic: break;
  }
  return used_by<Cubic>(stretch);
}

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
