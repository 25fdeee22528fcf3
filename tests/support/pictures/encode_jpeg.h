// Writing JPEG files, for sample data and tests. The library itself only reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::pictures {

// What the file stores. The pixels handed in are 1 byte (grey), 3 (RGB) or 4 (CMYK) each.
enum class JpegColour : std::uint8_t { grey, ycc, rgb, cmyk, ycck };

struct EncodeOptions {
  int quality = 90;  // libjpeg's, 1 to 100
  JpegColour colour = JpegColour::ycc;
  // Sampling factors of the first component: 2 x 2 is 4:2:0, 2 x 1 is 4:2:2.
  int luma_h = 1;
  int luma_v = 1;
  // Of the second and third; other files than odd ones have 1.
  int chroma_h = 1;
  int chroma_v = 1;
  bool progressive = false;
  bool arithmetic = false;
  bool adobe_marker = true;    // only for cmyk and ycck
  int restart_rows = 0;        // a restart marker after so many rows of blocks; 0 for none
  int restart_mcus = 0;        // the same in MCUs; restart_rows counts where both are given
  bool optimise = true;        // Huffman tables of the file's own, as ImageNet's files have; else the usual ones
  bool force_baseline = true;  // quantiser steps of 8 bits; else of 16 where the quality is low
};

// How many bytes a pixel has in memory.
int bytes_per_pixel(JpegColour colour);

// The file. `pixels` has height * width *
// bytes_per_pixel. Throws std::runtime_error with libjpeg's text.
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                                   const EncodeOptions& options = {});

}  // namespace penstock::pictures
