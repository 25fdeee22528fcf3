#include "tests/support/pictures/sample_picture.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace penstock::pictures {
namespace {

struct Quantile {
  double share, value;
};

// The value at a share of the distribution, straight lines between the logarithms of the known
// points.
double value_at(std::span<const Quantile> points, double share) {
  std::size_t i = 1;
  while (i + 1 < points.size() && points[i].share < share) ++i;
  const Quantile& a = points[i - 1];
  const Quantile& b = points[i];
  const double part = std::clamp((share - a.share) / (b.share - a.share), 0.0, 1.0);
  return a.value * std::pow(b.value / a.value, part);
}

// Pixels of the 63 % of ImageNet that have none of the three commonest sizes.
constexpr Quantile pixels_of_others[]{{0, 12e3},      {0.079, 49e3}, {0.47, 180e3}, {0.6, 190e3},
                                      {0.921, 391e3}, {0.99, 800e3}, {1, 2.6e6}};
constexpr Quantile bits_per_pixel[]{{0, 0.6}, {0.05, 1.16}, {0.5, 4.6}, {0.95, 8.83}, {1, 11}};

std::int64_t to_pixels(double value) { return std::max<std::int64_t>(std::llround(value), 16); }

void draw_size(PictureSpec& spec, Random& random) {
  const double which = random.uniform();
  if (which < 0.21) {
    spec.height = 375, spec.width = 500;
  } else if (which < 0.31) {
    spec.height = 333, spec.width = 500;
  } else if (which < 0.37) {
    spec.height = 500, spec.width = 375;
  } else {
    const double pixels = value_at(pixels_of_others, random.uniform());
    const double ratio = std::exp(random.uniform() - (random.uniform() < 0.7 ? 0.4 : 0.8));
    spec.height = to_pixels(std::sqrt(pixels / ratio));
    spec.width = to_pixels(std::sqrt(pixels * ratio));
  }
}

void draw_encoding(PictureSpec& spec, Random& random) {
  const double which = random.uniform();
  if (which < 0.023) spec.encoding.colour = JpegColour::grey;
  if (which >= 0.784) spec.encoding.luma_h = 2;  // 4:2:2
  if (which >= 0.797) spec.encoding.luma_v = 2;  // and most of these 4:2:0
  spec.encoding.quality = 93;
}

// Large photos have fewer bits per pixel: the largest of 1000 has 724 KB for 3.8 megapixels.
void draw_rate(PictureSpec& spec, Random& random) {
  const double pixels = static_cast<double>(spec.height * spec.width);
  const double usual = value_at(bits_per_pixel, random.uniform());
  spec.bits_per_pixel = usual * std::min(1.2, std::pow(215e3 / pixels, 0.4));
}

// Start and end, from 1, of a stretch of `length` of `extent`; at the far border in one of eight
// cases.
std::array<std::int64_t, 2> place(std::int64_t length, std::int64_t extent, Random& random) {
  const std::int64_t rest = extent - length;
  const std::int64_t start = random.uniform() < 0.125 ? rest : random.below(rest + 1);
  return {start + 1, start + length};
}

SampleBox draw_box(const PictureSpec& spec, Random& random) {
  const double area = (0.1 + 0.5 * random.uniform()) * static_cast<double>(spec.height * spec.width);
  const double ratio = std::exp(0.8 * random.uniform() - 0.4);
  const std::int64_t width = std::min(to_pixels(std::sqrt(area * ratio)), spec.width);
  const std::int64_t height = std::min(to_pixels(area / static_cast<double>(width)), spec.height);
  const auto [xmin, xmax] = place(width, spec.width, random);
  const auto [ymin, ymax] = place(height, spec.height, random);
  return {xmin, ymin, xmax, ymax};
}

// One plane of the picture: luma or a colour difference, in 64ths of a byte's step.
struct Plane {
  Plane(const PictureSpec& spec)
      : height(spec.height), width(spec.width), values(static_cast<std::size_t>(spec.height * spec.width)) {}

  int* row(std::int64_t y) { return values.data() + y * width; }

  std::int64_t height, width;
  std::vector<int> values;
};

// Eight numbers in -128 .. 127 from each draw.
std::vector<int> draw_bytes(std::size_t count, Random& random) {
  std::vector<int> bytes(count);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i, bits >>= 8) {
    if (i % 8 == 0) bits = random.next();
    bytes[i] = static_cast<int>(bits & 255) - 128;
  }
  return bytes;
}

// Random values on a grid of 2^log_cell pixels, straight lines between: one octave of "value
// noise". Several of them, each finer and weaker, have the falling spectrum of photographs.
// `strength` is the largest value times 64.
void add_octave(Plane& plane, int log_cell, int strength, Random& random) {
  const std::int64_t cell = std::int64_t{1} << log_cell;
  const std::int64_t columns = plane.width / cell + 2;
  const std::vector<int> grid = draw_bytes(static_cast<std::size_t>(columns * (plane.height / cell + 2)), random);
  std::vector<int> mixed(static_cast<std::size_t>(columns));
  const int size = 1 << log_cell;
  for (std::int64_t y = 0; y < plane.height; ++y) {
    const int* above = grid.data() + (y >> log_cell) * columns;
    const int* below = above + columns;
    const int down = static_cast<int>(y & (cell - 1));
    for (std::size_t i = 0; i < mixed.size(); ++i)
      mixed[i] = ((above[i] * (size - down) + below[i] * down) * strength) >> log_cell;
    int* row = plane.row(y);
    for (std::int64_t x = 0; x < plane.width; ++x) {
      const int* left = mixed.data() + (x >> log_cell);
      const int across = static_cast<int>(x & (cell - 1));
      row[x] += (left[0] * (size - across) + left[1] * across) >> (log_cell + 7);
    }
  }
}

void add_ellipse(Plane& plane, const SampleBox& box, int value) {
  const double half_width = static_cast<double>(box.xmax - box.xmin + 1) / 2;
  const double half_height = static_cast<double>(box.ymax - box.ymin + 1) / 2;
  for (std::int64_t y = box.ymin - 1; y < box.ymax; ++y) {
    const double v = (static_cast<double>(y - box.ymin) + 1.5 - half_height) / half_height;
    const double half = half_width * std::sqrt(std::max(0.0, 1 - v * v));
    const double middle = static_cast<double>(box.xmin - 1) + half_width;
    const auto begin = std::max<std::int64_t>(std::llround(middle - half), 0);
    const auto end = std::min<std::int64_t>(std::llround(middle + half), plane.width);
    for (std::int64_t x = begin; x < end; ++x) plane.row(y)[x] += value;
  }
}

// Shades and shapes, then grain in three octaves.
Plane paint_plane(const PictureSpec& spec, int shade, int grain, Random& random) {
  Plane plane(spec);
  for (const int log_cell : {7, 5, 3}) {
    add_octave(plane, log_cell, shade, random);
    shade /= 3;
  }
  for (const SampleBox& box : spec.boxes)
    add_ellipse(plane, box, static_cast<int>(random.below(3840)) - 1920);  // 30 steps up or down
  if (grain > 0) {
    add_octave(plane, 2, grain, random);
    add_octave(plane, 1, grain, random);
    add_octave(plane, 0, grain, random);
  }
  return plane;
}

std::uint8_t to_byte(int value) { return static_cast<std::uint8_t>(std::clamp(128 + value / 64, 0, 255)); }

double measured_rate(EncodeOptions encoding, double grain) {
  PictureSpec spec;
  spec.height = spec.width = 192;
  spec.encoding = encoding;
  spec.seed = 7;
  const double bytes = static_cast<double>(encode_jpeg(paint(spec, grain), spec.height, spec.width, encoding).size());
  return 8 * bytes / static_cast<double>(spec.height * spec.width);
}

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

PictureSpec draw_picture(Random& random) {
  PictureSpec spec;
  draw_size(spec, random);
  draw_encoding(spec, random);
  draw_rate(spec, random);
  const std::int64_t boxes = 1 + random.below(3);
  for (std::int64_t i = 0; i < boxes; ++i) spec.boxes.push_back(draw_box(spec, random));
  spec.seed = random.next();
  return spec;
}

GrainTable::GrainTable() {
  EncodeOptions grey{.quality = 93, .colour = JpegColour::grey}, full{.quality = 93};
  EncodeOptions half{.quality = 93, .luma_h = 2}, quarter{.quality = 93, .luma_h = 2, .luma_v = 2};
  for (std::size_t i = 0; i < grains_.size(); ++i) {
    grey_[i] = measured_rate(grey, grains_[i]);
    full_[i] = measured_rate(full, grains_[i]);
    half_[i] = measured_rate(half, grains_[i]);
    quarter_[i] = measured_rate(quarter, grains_[i]);
  }
}

const GrainTable::Rates& GrainTable::rates_for(const EncodeOptions& encoding) const {
  if (encoding.colour == JpegColour::grey) return grey_;
  if (encoding.luma_h == 1) return full_;
  return encoding.luma_v == 1 ? half_ : quarter_;
}

double GrainTable::grain_for(const PictureSpec& spec) const {
  const Rates& rates = rates_for(spec.encoding);
  std::size_t i = 1;
  while (i + 1 < rates.size() && rates[i] < spec.bits_per_pixel) ++i;
  const double part = (spec.bits_per_pixel - rates[i - 1]) / (rates[i] - rates[i - 1]);
  return grains_[i - 1] + std::clamp(part, 0.0, 1.0) * (grains_[i] - grains_[i - 1]);
}

std::vector<std::uint8_t> paint(const PictureSpec& spec, double grain) {
  Random random(spec.seed);
  const int luma_grain = static_cast<int>(grain * 64);
  Plane luma = paint_plane(spec, 64 * 90, luma_grain, random);
  std::vector<std::uint8_t> pixels;
  if (spec.encoding.colour == JpegColour::grey) {
    for (const int value : luma.values) pixels.push_back(to_byte(value));
    return pixels;
  }
  const Plane red = paint_plane(spec, 64 * 40, luma_grain / 2, random);
  const Plane blue = paint_plane(spec, 64 * 40, luma_grain / 2, random);
  pixels.reserve(3 * luma.values.size());
  for (std::size_t i = 0; i < luma.values.size(); ++i)
    for (const int value : {luma.values[i] + red.values[i], luma.values[i], luma.values[i] + blue.values[i]})
      pixels.push_back(to_byte(value));
  return pixels;
}

}  // namespace penstock::pictures
