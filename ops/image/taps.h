// Which input pixels make an output pixel of a resize, and with which weights: Pillow's filters, one axis at a time.
#pragma once

#include <penstock/image/resize.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::image {

// Weights are whole numbers of 2^-22. None is beyond -2^23 .. 2^23: the middle of a filter always lies in the picture,
// so that a bicubic weight stays below 1.3.
inline constexpr int kWeightBits = 22;

// The part of one output axis that is wanted: outputs first .. first + count - 1 of `full`, which together show the
// stretch [begin, end) of an input of `extent` pixels.
struct Stretch {
  float begin, end;
  std::int64_t extent;
  std::int64_t full, first, count;
};

struct Taps {
  // Of one output: its first input pixel, counted from `begin`, how many, and where their weights begin.
  struct Span {
    std::int64_t begin, count;
    std::size_t weights;
  };
  std::vector<Span> spans;
  std::vector<std::int32_t> weights;
  std::int64_t begin = 0, end = 0;  // the part of the input in use
  std::int64_t most = 0;            // pixels of one output
};

// Fills `taps`, whose memory is used again. Costs a few nanoseconds a weight.
void build_taps(Taps& taps, const Stretch& stretch, Filter filter);

// The part of the input that these outputs use, as Taps has it.
struct Used {
  std::int64_t begin, end;
};
Used used_input(const Stretch& stretch, Filter filter);

}  // namespace penstock::image
