// JPEG files of every kind that our own decoder takes, drawn at random.
//
//   std::minstd_rand random(7);
//   RandomJpeg picture = random_jpeg(random, {3000, 4000});
#pragma once

#include <penstock/image/view.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "tests/support/pictures/encode_jpeg.h"

namespace penstock::pictures {

struct RandomJpeg {
  std::vector<std::byte> file;
  std::string text;  // its size, sampling, quality and so on
};

std::int64_t draw(std::minstd_rand& random, std::int64_t low, std::int64_t high);

// Log-uniform between 1 and `most`, so that odd edges of few blocks are as frequent as large pictures.
image::Size random_size(std::minstd_rand& random, image::Size most);

// Grey, 4:4:4, 4:2:2, 4:2:0 or 4:4:0; any quality; with and without restart intervals, tables of its own and 16-bit
// steps.
RandomJpeg random_jpeg(std::minstd_rand& random, image::Size most);

// Anywhere in an image of this size, often at its edges, sometimes all of it or a single row or column.
image::Window random_window(std::minstd_rand& random, image::Size size);

}  // namespace penstock::pictures
