#include "tests/support/pictures/random_jpeg.h"

#include <algorithm>
#include <cmath>

namespace penstock::pictures {
namespace {

using pictures::EncodeOptions;
std::int64_t log_uniform(std::minstd_rand& random, std::int64_t most) {
  const double share = std::uniform_real_distribution<double>(0, 1)(random);
  return std::clamp<std::int64_t>(std::llround(std::exp(share * std::log(static_cast<double>(most) + 0.5))), 1, most);
}

// Slopes, edges and noise of some strength: of flat blocks to those in which every coefficient counts.
std::vector<std::uint8_t> pixels_of(std::minstd_rand& random, image::Size size, int bytes_per_pixel) {
  const std::int64_t strength = std::int64_t{1} << draw(random, 0, 8), slope = draw(random, 0, 9),
                     edge = draw(random, 5, 200);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(size.height * size.width * bytes_per_pixel));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x)
      for (int c = 0; c < bytes_per_pixel; ++c) {
        const std::int64_t step = (x / edge + y / edge + c) % 2 == 0 ? 0 : 120;
        const std::int64_t value =
            step + slope * (x + c * y) / 8 + static_cast<std::int64_t>(random() >> 12) % strength;
        pixels[i++] = static_cast<std::uint8_t>(std::min<std::int64_t>(value % 512, 255));
      }
  return pixels;
}

EncodeOptions random_options(std::minstd_rand& random) {
  EncodeOptions how;
  how.quality = static_cast<int>(draw(random, 1, 100));
  const std::int64_t sampling = draw(random, 0, 5);
  how.luma_h = sampling == 1 || sampling == 2 ? 2 : 1;
  how.luma_v = sampling == 2 || sampling == 3 ? 2 : 1;
  if (sampling == 4) {  // whose factors change only how libjpeg goes through it
    how.colour = pictures::JpegColour::grey;
    how.luma_h = static_cast<int>(draw(random, 1, 2));
    how.luma_v = static_cast<int>(draw(random, 1, 4));
  }
  if (sampling == 5) how.luma_h = how.luma_v = 2;  // the most frequent one by far
  how.optimise = draw(random, 0, 1) == 1;
  how.force_baseline = draw(random, 0, 7) > 0;
  if (draw(random, 0, 3) == 0) how.restart_mcus = static_cast<int>(draw(random, 1, 60));
  return how;
}

struct Run {
  std::int64_t begin, count;
};

Run random_run(std::minstd_rand& random, std::int64_t extent) {
  const std::int64_t count = draw(random, 0, 4) == 0 ? 1 : draw(random, 1, extent);
  switch (draw(random, 0, 6)) {
    case 0: return {0, extent};
    case 1: return {0, count};
    case 2: return {extent - count, count};
    default: return {draw(random, 0, extent - count), count};
  }
}

}  // namespace

std::int64_t draw(std::minstd_rand& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

image::Size random_size(std::minstd_rand& random, image::Size most) {
  return {log_uniform(random, most.height), log_uniform(random, most.width)};
}

RandomJpeg random_jpeg(std::minstd_rand& random, image::Size most) {
  const image::Size size = random_size(random, most);
  const EncodeOptions how = random_options(random);
  const auto pixels = pixels_of(random, size, pictures::bytes_per_pixel(how.colour));
  const std::string sampling =
      how.colour == pictures::JpegColour::grey ? "grey" : std::to_string(how.luma_h) + "x" + std::to_string(how.luma_v);
  return {pictures::encode_jpeg(pixels, size.height, size.width, how),
          std::to_string(size.height) + " x " + std::to_string(size.width) + ", " + sampling + ", quality " +
              std::to_string(how.quality) + ", optimised " + std::to_string(how.optimise) + ", restart " +
              std::to_string(how.restart_mcus) + ", baseline " + std::to_string(how.force_baseline)};
}

image::Window random_window(std::minstd_rand& random, image::Size size) {
  const Run rows = random_run(random, size.height), columns = random_run(random, size.width);
  return {rows.begin, columns.begin, rows.count, columns.count};
}

}  // namespace penstock::pictures
