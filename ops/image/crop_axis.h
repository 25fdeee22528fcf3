// Positions of crop_and_resize along one axis of the image, as TensorFlow's kernel computes them.
#pragma once

#include <penstock/image/crop_and_resize.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::image {

// Where the values of one output axis come from. Positions rise or fall with the index, so those inside the image are
// one run [first, last); outside it the entries mean nothing.
struct CropAxis {
  std::vector<std::int32_t> low, high;  // the two neighbours, in the whole image; equal at a pixel's centre
  std::vector<float> fraction;          // of the way from low to high
  std::size_t first = 0, last = 0;

  bool is_outside() const { return first == last; }
};

// `count` positions of a box from `low` to `high` in an image of `extent` rows or columns.
void build_axis(CropAxis& axis, float low, float high, std::int64_t extent, std::int64_t count, Interpolation method);

// The last one first.
void reverse(CropAxis& axis);

// The first and the last row or column that is read. The axis is not outside.
struct Reach {
  std::int32_t first, last;
};
Reach reach_of(const CropAxis& axis);

}  // namespace penstock::image
