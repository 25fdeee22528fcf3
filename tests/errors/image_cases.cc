// Image functions that are asked for what cannot be.
#include <penstock/image.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "tests/errors/catalogue.h"

namespace penstock::errors {
namespace {

const Tensor& picture() {
  static const Tensor pixels(DType::u8, {4, 6, 3});
  return pixels;
}

image::ImageView view() { return image::view_of(picture()); }

// A crop of 2 x 2 pixels into these bytes.
int crop_into(std::size_t bytes, DType type, std::size_t shift = 0, const image::Normaliser* normaliser = nullptr) {
  alignas(float) static std::array<std::byte, 64> memory;
  const image::Output out{.memory = std::span(memory).subspan(shift, bytes), .type = type, .normaliser = normaliser};
  image::crop_and_resize(image::part_of(view()), {}, {2, 2}, out);
  return 0;
}
image::ImagePart upper_half() { return {view().window({0, 0, 2, 6}), {0, 0, 2, 6}, {4, 6}}; }

double half() { return 0.5; }

const image::Normaliser& imagenet() {
  static const image::Normaliser normaliser;
  return normaliser;
}

int store_to(const image::Output& out) {
  image::store(view(), out);
  return 0;
}

}  // namespace

Cases image_cases() {
  using image::Size;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto use = [](auto&& wrong) { return in_map([wrong] { (void)wrong(); }); };
  return {
      {"an image of floats", use([] {
         return image::view_of(Tensor(DType::f32, {4, 6, 3}));
       })},
      {"a window that leaves the image", use([] { return view().window({.y = 2, .x = 0, .height = 3, .width = 2}); })},
      {"hflip into too little memory", use([] {
         std::vector<std::uint8_t> out(7);
         image::hflip(view(), out);
         return 0;
       })},
      {"crop_and_resize to no size", use([] {
         return image::crop_and_resize(view(), std::vector{image::Box{}}, {0, 9});
       })},
      {"crop_and_resize of a box that is not finite", use([] {
         return image::crop_and_resize(view(), std::vector{image::Box{0, nan, 1, 1}}, {9, 9});
       })},
      {"crop_and_resize to another type", use([] { return crop_into(48, DType::i32); })},
      {"crop_and_resize to normalised bytes", use([] {
         const image::Normaliser normaliser;
         return crop_into(12, DType::u8, 0, &normaliser);
       })},
      {"crop_and_resize into too little memory", use([] { return crop_into(23, DType::f16); })},
      {"crop_and_resize into memory that is not aligned", use([] { return crop_into(24, DType::f16, 1); })},
      {"crop_and_resize of a part that lacks pixels", use([] {
         std::vector<float> out(Size{9, 9}.values());
         image::crop_and_resize(upper_half(), image::Box{}, Size{9, 9}, out);
         return 0;
       })},
      {"resize_and_centre_crop of a part that lacks pixels", use([] {
         std::vector<std::uint8_t> out(Size{8, 8}.values());
         image::resize_and_centre_crop(upper_half(), 8, Size{8, 8}, out);
         return 0;
       })},
      {"source_window of an empty image", use([] {
         return image::source_window({0, 4}, std::vector{image::Box{}}, {9, 9});
       })},
      {"resize of a region outside", use([] {
         return image::resize(view(), image::Region{.left = 0, .upper = 0, .right = 7, .lower = 4}, Size{9, 9});
       })},
      {"random_crop of an empty image", use([] {
         return image::random_crop({0, 4}, half);
       })},
      {"random_crop of no area", use([] {
         return image::random_crop({4, 4}, half, {.min_area = 0});
       })},
      {"a centre crop larger than the image", use([] {
         return image::centre_window({4, 6}, {5, 5});
       })},
      {"a conversion into too little memory", use([] {
         std::vector<std::uint16_t> out(2);
         image::convert_to_f16(std::vector<float>(3), out);
         return 0;
       })},
      {"Normaliser with a deviation of 0", use([] {
         return image::Normaliser({0, 0, 0}, {1, 0, 1});
       })},
      {"Normaliser to bytes", use([] { return image::Normaliser()(view(), DType::u8); })},
      {"Normaliser to 16-bit values of another type", use([] {
         std::vector<std::uint16_t> out(72);
         image::Normaliser()(view(), DType::f32, out, {});
         return 0;
       })},
      {"an output of integers", use([] { return store_to({.memory = {}, .type = DType::i64}); })},
      {"an output of normalised bytes",
       use([] { return store_to({.memory = {}, .type = DType::u8, .normaliser = &imagenet()}); })},
      {"an output with too little memory", use([] {
         std::vector<std::byte> memory(12);
         return store_to({.memory = memory});
       })},
      {"an output that is not aligned", use([] {
         alignas(4) std::array<std::byte, 289> memory{};
         return store_to({.memory = std::span(memory).subspan(1)});
       })},
      {"a chain of steps in another order", use([] {
         return image::Flip{} | image::Crop{{0, 0, 2, 2}};
       })},
      {"a chain that normalises bytes", use([] { return image::Normalise{} | image::Convert{DType::u8}; })},
      {"a chain into a tensor of another type", use([] {
         Tensor place(DType::u8, {4, 6, 3});
         (image::Flip{} | image::Normalise{})(view(), place);
         return 0;
       })},
      {"a chain that cuts out pixels that were not decoded", use([] {
         return image::Crop{{2, 0, 2, 6}}(upper_half());
       })},
      {"a chain without a crop of a part", use([] { return image::Flip{}(upper_half()); })},
      {"a chain into an output that mirrors by itself", use([] {
         const image::Transform chain = image::Flip{};
         chain(view(), image::Output{.memory = {}, .type = DType::u8, .mirror = image::Mirror::yes});
         return 0;
       })},
  };
}

}  // namespace penstock::errors
