// Boxes around objects, which have to follow the picture when it is cropped, resized and mirrored.
//
// Coordinates are those of edges, in pixels: pixel i lies between i and i + 1, and the whole picture is (0, 0, height,
// width). (Box of crop_and_resize.h counts from the centres of pixels, as shares of the picture.) Safe from any number
// of threads.
//
//   namespace im = ps::image;
//   const auto voc = ps::parse_voc(xml);                                  // objects of a 500 x 375 picture
//   const std::vector<im::PixelBox> boxes = ps::pixel_boxes(voc);
//   const im::Window crop = im::random_crop({375, 500}, uniform);
//   for (const im::MovedBox& moved : im::transform_boxes(boxes, crop, {224, 224}, im::Mirror::yes))
//     std::cout << voc.objects[moved.index].name << " at x = " << moved.box.xmin << '\n';
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <penstock/image/convert.h>
#include <penstock/image/view.h>

#pragma GCC visibility push(default)

namespace penstock::image {

struct PixelBox {
  float ymin = 0;
  float xmin = 0;
  float ymax = 0;
  float xmax = 0;

  float area() const noexcept { return (ymax - ymin) * (xmax - xmin); }

  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

// What became of a box.
struct MovedBox {
  PixelBox box;           // in the result, cut to it
  std::size_t index = 0;  // of the box that it was, so that its label can be found
  float visible = 1;      // share of that box's area that lies in the crop: more than 0
};

// The boxes of a picture after it was cut to `crop`, resized to `size` and, last, mirrored. A box that has no area, or
// of whose area less than `least_visible` lies in the crop (0: none at all), is left out; the others keep their order.
// Of boxes cut by the crop's edge what is inside stays, as torchvision's ClampBoundingBoxes and SanitizeBoundingBoxes
// do it.
//
// Error(invalid_argument): a corner that is not finite, a crop or a size that is not positive, `least_visible` outside
// 0..1.
//
//   const std::vector<ps::image::PixelBox> one{{0, 0, 10, 10}};
//   ps::image::transform_boxes(one, {0, 5, 10, 10}, {20, 20});  // (0, 0, 20, 10); half of it is visible
std::vector<MovedBox> transform_boxes(std::span<const PixelBox> boxes, const Window& crop, Size size,
                                      Mirror mirror = Mirror::no, double least_visible = 0);

}  // namespace penstock::image

#pragma GCC visibility pop
