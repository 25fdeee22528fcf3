// Pictures and boxes that resemble ImageNet's in size, colour sampling and bytes,
// for sample data that may be given away. Everything follows from a seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/pictures/encode_jpeg.h"

namespace penstock::pictures {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(uniform() * static_cast<double>(n)); }

 private:
  std::uint64_t state_;
};

// A box as VOC counts: from 1, both ends inside.
struct SampleBox {
  std::int64_t xmin, ymin, xmax, ymax;
};

// What a picture shall be, before it is painted.
struct PictureSpec {
  std::int64_t height = 0;
  std::int64_t width = 0;
  EncodeOptions encoding;
  double bits_per_pixel = 0;  // of the file
  std::vector<SampleBox> boxes;
  std::uint64_t seed = 0;  // of its content
};

// Draws size, sampling, rate and 1 to 3 boxes of 10 to 60 % of the area, a quarter of them at the border.
PictureSpec draw_picture(Random& random);

// How much grain a picture needs for the bytes that it shall have. Found by coding small pictures
// once (0.3 s); const use from any number of threads.
class GrainTable {
 public:
  GrainTable();
  double grain_for(const PictureSpec& spec) const;

 private:
  static constexpr std::array<double, 9> grains_{0, 2, 4, 8, 16, 32, 64, 128, 256};
  using Rates = std::array<double, grains_.size()>;

  Rates grey_, full_, half_, quarter_;  // bits per pixel at each grain: grey, 4:4:4, 4:2:2, 4:2:0

  const Rates& rates_for(const EncodeOptions& encoding) const;
};

// Slow shades, an ellipse in each box, and grain on top. RGB or grey bytes, as the encoding asks.
std::vector<std::uint8_t> paint(const PictureSpec& spec, double grain);

}  // namespace penstock::pictures
