// JPEG files made of coefficients, for tests that must say exactly what a decoder sees: any coefficients, steps,
// samplings and restart intervals that the format has (ITU-T T.81, sequential, Huffman, 8 bits a sample). Nothing of
// libjpeg or of penstock is in it.
//
//   JpegCoefficients picture{.width = 8, .height = 8, .planes = {{.blocks = {Block{100}}}}};  // grey
//   std::vector<std::byte> file = encode(picture);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::testing {

using CoefficientBlock = std::array<std::int16_t, 64>;  // natural order, row by row

constexpr std::array<std::uint16_t, 64> equal_steps(std::uint16_t step) {
  std::array<std::uint16_t, 64> steps{};
  steps.fill(step);
  return steps;
}

// One component.
struct CoefficientPlane {
  int across = 1;  // sampling factors (H and V of B.2.2); a picture of one plane has 1 and 1
  int down = 1;
  std::array<std::uint16_t, 64> steps = equal_steps(1);  // natural order; above 255 they are written with 16 bits
  std::vector<CoefficientBlock> blocks = {};             // rows of blocks_across(), blocks_down() of them
};

struct JpegCoefficients {
  int width = 0;
  int height = 0;
  int restart_interval = 0;  // MCUs; 0: none
  std::vector<CoefficientPlane> planes = {};
};

// Blocks of a plane with those that fill up the last MCUs.
int blocks_across(const JpegCoefficients& picture, std::size_t plane);
int blocks_down(const JpegCoefficients& picture, std::size_t plane);

// JFIF, quantisers, frame (SOF1), tables, one interleaved scan. All codes of a table are of one length, so every run
// and size can be written. Throws std::invalid_argument if a plane has not as many blocks as it should, or a
// coefficient, or the difference of two first ones, needs more than 15 bits (restart_interval = 1 has no differences).
std::vector<std::byte> encode(const JpegCoefficients& picture);

}  // namespace penstock::testing
