#include "tests/support/examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace penstock::test {

using imagenet::Example;

std::vector<Example> collect(const Dataset<Example>& dataset, const RunOptions& options) {
  std::vector<Example> examples;
  auto run = dataset.start(options);
  while (auto example = run.next()) examples.push_back(std::move(*example));
  return examples;
}

void expect_equal(const std::vector<Example>& got, const std::vector<Example>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].image, expected[i].image) << "image " << i;
    EXPECT_EQ(got[i].label, expected[i].label) << "image " << i;
    EXPECT_EQ(got[i].box, expected[i].box) << "image " << i;
    EXPECT_EQ(got[i].file, expected[i].file) << "image " << i;
  }
}

Tensor rounded(const Tensor& floats, DType type) {
  Tensor result(type, floats.shape());
  const auto from = floats.values<float>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (type == DType::u8)
      result.values<std::uint8_t>()[i] = static_cast<std::uint8_t>(std::nearbyint(from[i]));
    else
      result.values<std::uint16_t>()[i] = type == DType::f16 ? image::to_f16(from[i]) : image::to_bf16(from[i]);
  }
  return result;
}

Tensor planes_of(const Tensor& pixels) {
  const std::int64_t height = pixels.shape()[0], width = pixels.shape()[1];
  Tensor planes(pixels.dtype(), {3, height, width});
  const std::size_t size = size_of(pixels.dtype());
  const auto count = static_cast<std::size_t>(height * width);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(planes.data() + (c * count + i) * size, pixels.data() + (3 * i + c) * size, size);
  return planes;
}

}  // namespace penstock::test
