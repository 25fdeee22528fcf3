// Where values of a sample go.
#include <penstock/image.h>

#include "tests/errors/catalogue.h"

namespace penstock::errors {
namespace {

int output_of(DType type, const Shape& shape, image::Layout layout = image::Layout::nhwc) {
  Tensor values(type, shape);
  (void)image::output_of(values, layout);
  return 0;
}

// Nobody looks at pixels of such a view.
image::ImageView tall(std::int64_t height) {
  static const std::uint8_t pixel[3] = {};
  return {pixel, height, 1, 0};
}

}  // namespace

Cases output_cases() {
  const auto use = [](auto&& wrong) { return in_map([wrong] { (void)wrong(); }); };
  return {
      {"output_of a tensor without colours", use([] {
         return output_of(DType::f32, {4, 6});
       })},
      {"output_of a tensor without planes", use([] {
         return output_of(DType::f32, {4, 6, 3}, image::Layout::nchw);
       })},
      {"output_of whole numbers", use([] {
         return output_of(DType::i32, {4, 6, 3});
       })},
      {"resize of 20 million rows", use([] {
         return image::resize(tall(20'000'000), image::Size{4, 4});
       })},
      {"resize of a part that lacks pixels", use([] {
         Tensor values(DType::u8, {2, 2, 3});
         const image::ImagePart lower{tall(2), {2, 0, 2, 1}, {4, 1}};
         image::resize(lower, image::Size{2, 2}, image::output_of(values, image::Layout::nhwc));
         return 0;
       })},
      {"a chain that converts to whole numbers", use([] { return image::Transform(image::Convert{DType::i64}); })},
  };
}

}  // namespace penstock::errors
