// The headers of a JPEG file (ITU-T T.81, annex B), as far as our own decoder takes them.
#pragma once

#include <penstock/image/jpeg.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/image/huffman.h"

namespace penstock::image {

// 64 steps in natural order, row by row (B.2.4.1 has them in zigzag order).
using QuantiserSteps = std::array<std::uint16_t, 64>;

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

struct JpegComponent {
  int across = 1;  // blocks of an MCU in each direction (H and V of B.2.2)
  int down = 1;
  std::uint8_t id = 0;
  std::uint8_t quantiser = 0;  // numbers of tables
  std::uint8_t dc = 0;
  std::uint8_t ac = 0;
};

struct JpegHeaders {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int components = 0;  // 1 or 3
  std::array<JpegComponent, 3> component;
  int across = 1;  // the largest of the components
  int down = 1;
  int rows_at_once = 1;               // rows of MCUs that libjpeg decodes together: a single component's V
  std::int64_t restart_interval = 0;  // MCUs; 0: none
  std::array<QuantiserSteps, 4> quantisers;
  std::array<HuffmanCode, 4> dc, ac;
  std::size_t scan = 0;  // where the entropy-coded data begins

  // MCUs of the image in each direction (A.2.3).
  std::int64_t mcus_across() const { return divided_up(width, 8 * across); }
  std::int64_t mcus_down() const { return divided_up(height, 8 * down); }
};

// Reads up to the first scan's data. What is not none leaves `headers` in any state. Every length is checked against
// the file; all tables that the scan names are there, and every Huffman code is one.
Refusal read_headers(std::span<const std::byte> file, JpegHeaders& headers) noexcept;

}  // namespace penstock::image
