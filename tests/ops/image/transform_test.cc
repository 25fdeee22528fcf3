#include <gtest/gtest.h>
#include <penstock/image/transform.h>

#include <numeric>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock::image {
namespace {

Tensor gradient() {
  Tensor image(DType::u8, {40, 60, 3});
  const auto values = image.values<std::uint8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * 37 + i / 180 * 11);
  return image;
}

TEST(Transform, ChainEqualsItsStepsOneAfterTheOther) {
  const Tensor image = gradient();
  const Window window{.y = 3, .x = 5, .height = 30, .width = 50};
  const Transform chain =
      Crop{window} | Resize{{20, 24}, Filter::bicubic} | Flip{} | Normalise{} | Convert{DType::f16, Layout::nchw};
  const Tensor resized = resize(view_of(image).window(window), {20, 24}, {.filter = Filter::bicubic});
  const Tensor expected = Normaliser()(view_of(hflip(view_of(resized))), DType::f16, {.layout = Layout::nchw});
  EXPECT_EQ(chain(image), expected);
}

TEST(Transform, StepsCanBeCalledAlone) {
  const Tensor image = gradient();
  const ImageView view = view_of(image);
  const Window window{.y = 1, .x = 2, .height = 3, .width = 4};
  EXPECT_EQ(Crop{window}(view), copy_of(view.window(window)));
  EXPECT_EQ((Resize{{7, 9}}(image)), resize(view, {7, 9}));
  EXPECT_EQ((ResizeAndCentreCrop{20, {16, 16}}(image)), resize_and_centre_crop(view, 20, {16, 16}));
  EXPECT_EQ(Flip{}(image), hflip(view));
  EXPECT_EQ(Flip{Mirror::no}(image), image);
  EXPECT_EQ(Normalise{}(image), Normaliser()(view, DType::f32));
  EXPECT_EQ((Convert{DType::u8, Layout::nchw}(image)).shape(), (Shape{3, 40, 60}));
}

TEST(Transform, ChainsCanBeChained) {
  const Tensor image = gradient();
  const Transform geometry = Resize{{8, 8}} | Flip{};
  const Transform values = Normalise{} | Convert{DType::bf16};
  EXPECT_EQ((geometry | values)(image), (Resize{{8, 8}} | Flip{} | Normalise{} | Convert{DType::bf16})(image));
}

TEST(Transform, WritesIntoAPlaceOfABatch) {
  const Tensor image = gradient();
  const Transform chain = Resize{{8, 6}} | Convert{DType::f32};
  Tensor batch(DType::f32, {2, 8, 6, 3});
  Tensor place = batch.row(1);
  chain(view_of(image), place);
  EXPECT_EQ(place, chain(image));
}

TEST(Transform, WritesIntoMemory) {
  const Tensor image = gradient();
  const Transform chain = Resize{{8, 6}} | Normalise{};
  Tensor values(DType::f32, {8, 6, 3});
  chain(view_of(image), output_of(values, Layout::nhwc));
  EXPECT_EQ(values, chain(image));
}

TEST(Transform, CropAndResizeIsAStep) {
  const Tensor image = gradient();
  const CropAndResize step{{0.1F, 0.2F, 0.9F, 1.1F}, {20, 24}, {.extrapolation = 7}};
  const Tensor boxes = crop_and_resize(view_of(image), {&step.box, 1}, step.size, step.options);
  EXPECT_EQ(step(image), boxes.row(0));
  const Tensor normalised = (step | Flip{} | Normalise{} | Convert{DType::bf16, Layout::nchw})(image);
  Tensor expected(DType::bf16, {3, 20, 24});
  static const Normaliser normaliser;
  Output out = output_of(expected, Layout::nchw);
  out.mirror = Mirror::yes;
  out.normaliser = &normaliser;
  crop_and_resize(part_of(view_of(image)), step.box, step.size, out, step.options);
  EXPECT_EQ(normalised, expected);
}

// Chains of each kind, on the part of the picture that they ask for and nothing else.
TEST(Transform, NeedsOnlyThePixelsOfItsSource) {
  const Tensor image = gradient();
  const Crop crop{{.y = 3, .x = 5, .height = 30, .width = 50}};
  const CropAndResize box{{0.2F, 0.3F, 0.6F, 0.7F}, {12, 14}};
  const std::vector<Transform> chains{crop,
                                      crop | Resize{{20, 24}, Filter::bicubic},
                                      ResizeAndCentreCrop{20, {16, 16}} | Flip{},
                                      ResizeAndCentreCrop{24, {12, 12}, Filter::bicubic},
                                      crop | ResizeAndCentreCrop{18, {12, 16}} | Convert{DType::f16},
                                      box | Normalise{},
                                      crop | box};
  for (const Transform& chain : chains) {
    const ImageView whole = view_of(image);
    const Window source = chain.source({whole.height, whole.width});
    const Tensor pixels = copy_of(whole.window(source));
    const ImagePart part{view_of(pixels), source, {whole.height, whole.width}};
    EXPECT_EQ(chain(part), chain(image));
    EXPECT_LT(source.height * source.width, whole.height * whole.width);
  }
}

TEST(Transform, APartThatLacksPixelsIsRefused) {
  const Tensor image = gradient();
  const ImagePart part{view_of(image).window({0, 0, 10, 60}), {0, 0, 10, 60}, {40, 60}};
  const auto invalid = ErrorCode::invalid_argument;
  EXPECT_ERROR((Resize{{8, 8}}(part)), invalid, "resize_source()");
  EXPECT_ERROR((Crop{{5, 0, 10, 10}}(part)), invalid, "source()");
  EXPECT_ERROR((Crop{{20, 0, 10, 10}}(part)), invalid, "source()");
  EXPECT_ERROR((Crop{{10, 0, 10, 10}}(part)), invalid, "source()");  // it begins where the part ends
  const ImagePart left{view_of(image).window({0, 0, 40, 10}), {0, 0, 40, 10}, {40, 60}};
  EXPECT_ERROR((Crop{{0, 10, 10, 10}}(left)), invalid, "source()");
  EXPECT_ERROR((Crop{{35, 0, 10, 10}}(part)), invalid, "does not lie in the image");
  EXPECT_ERROR(Transform(Crop{{35, 0, 10, 10}}).source({40, 60}), invalid, "does not lie in the image");
}

TEST(Transform, WrongOrdersAreRefusedAtOnce) {
  const auto invalid = ErrorCode::invalid_argument;
  EXPECT_ERROR((Resize{{8, 8}} | Crop{{0, 0, 4, 4}}), invalid, "Crop cannot follow Resize");
  EXPECT_ERROR((Flip{} | Flip{}), invalid, "Flip cannot follow Flip");
  EXPECT_ERROR((Resize{{8, 8}} | ResizeAndCentreCrop{8, {8, 8}}), invalid, "cannot follow");
  EXPECT_ERROR((Normalise{} | Convert{DType::u8}), invalid, "do not fit u8");
  EXPECT_ERROR(Transform(Convert{DType::i64}), invalid, "not i64");
}

TEST(Transform, WrongPlacesAreRefused) {
  const Tensor image = gradient();
  const Transform chain = Resize{{8, 6}} | Convert{DType::f32};
  const auto invalid = ErrorCode::invalid_argument;
  Tensor other(DType::f32, {6, 8, 3});
  EXPECT_ERROR(chain(view_of(image), other), invalid, "but the place is f32 [6, 8, 3]");
  Tensor place(DType::f32, {8, 6, 3});
  Output out = output_of(place, Layout::nhwc);
  out.mirror = Mirror::yes;
  EXPECT_ERROR(chain(view_of(image), out), invalid, "those of the chain");
  EXPECT_ERROR((Resize{{0, 6}}(image)), invalid, "size must be positive");
}

}  // namespace
}  // namespace penstock::image
