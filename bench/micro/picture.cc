#include "bench/micro/picture.h"

#include <penstock/image/jpeg.h>

#include <vector>

#include "tests/support/pictures/encode_jpeg.h"
#include "tests/support/pictures/sample_picture.h"

namespace penstock::bench {
namespace {

std::vector<std::byte> make_jpeg() {
  pictures::PictureSpec spec;
  spec.height = 375;
  spec.width = 500;
  spec.bits_per_pixel = 4.6;  // the median of ImageNet
  spec.boxes = {{40, 30, 300, 200}};
  spec.seed = 1;
  const double grain = pictures::GrainTable().grain_for(spec);
  return pictures::encode_jpeg(pictures::paint(spec, grain), spec.height, spec.width, spec.encoding);
}

}  // namespace

std::span<const std::byte> sample_jpeg() {
  static const std::vector<std::byte> file = make_jpeg();
  return file;
}

image::ImageView sample_view() {
  static const Tensor image = image::decode_jpeg(sample_jpeg());
  return image::view_of(image);
}

}  // namespace penstock::bench
