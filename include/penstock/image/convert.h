// Values of pixels in other types: normalised floats, half precision, bytes.
//
// All functions may be called from any number of threads.
//
//   static const ps::image::Normaliser normaliser;  // ImageNet's mean and deviation
//   ps::Tensor values = normaliser(view, ps::DType::f16, {.layout = ps::image::Layout::nchw});
//   values.shape()  ->  [3, 375, 500]
#pragma once

#include <penstock/image/view.h>
#include <penstock/tensor.h>

#include <array>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace penstock::image {

// Half precision (IEEE 754 binary16) and bfloat16 as their 16 bits, rounded to nearest, halves to
// even. Too large becomes infinity, NaN stays (quiet) NaN, small numbers become subnormal or 0.
std::uint16_t to_f16(float value) noexcept;
std::uint16_t to_bf16(float value) noexcept;

// The values of such bits; exact.
float from_f16(std::uint16_t bits) noexcept;
float from_bf16(std::uint16_t bits) noexcept;

// The nearest byte, halves to even; below 0 and NaN give 0, above 255 gives 255.
std::uint8_t to_u8(float value) noexcept;

// The same for many values at once; Error(invalid_argument) unless both spans have one length.
void convert_to_f16(std::span<const float> from, std::span<std::uint16_t> to);
void convert_to_bf16(std::span<const float> from, std::span<std::uint16_t> to);
void convert_to_u8(std::span<const float> from, std::span<std::uint8_t> to);

// The order of a picture's values.
enum class Layout : std::uint8_t {
  nhwc,  // [height, width, 3]: the three colours of a pixel side by side
  nchw,  // [3, height, width]: one plane for each colour
};

enum class Mirror : std::uint8_t {
  no,
  yes,  // left to right
};

struct NormaliseOptions {
  Layout layout = Layout::nhwc;  // of the result
  Mirror mirror = Mirror::no;    // whether the result is mirrored
};

// One number for red, green and blue.
using Colour = std::array<float, 3>;

namespace detail {

// The colours' numbers beside 48 values in a row: of 16 pixels, interleaved or in planes.
struct alignas(64) NormaliserPattern {
  float mean[48];
  float deviation[48];
  float reciprocal[48];  // of the deviation
};

// What the kernels need to normalise.
struct NormaliserTables {
  template <class Value> using Table = std::array<std::array<Value, 256>, 3>;

  NormaliserTables(float scale, const Colour& mean, const Colour& deviation);

  float scale;
  // Whether the product with the reciprocal, corrected once by a fused multiply and add, is the quotient for all 256
  // bytes.
  bool corrects_exactly = true;
  NormaliserPattern interleaved;
  NormaliserPattern planes;
  Table<float> f32;  // results, for those who look them up
  Table<std::uint16_t> f16;
  Table<std::uint16_t> bf16;
};

}  // namespace detail

// (x * f32(1/255) - mean) / deviation in float32, each step rounded; f16 and bf16 round that
// result. Make one object and keep it: it computes all results of the 256 bytes once, to look them up
// or to know how they may be computed, in some microseconds. 224 x 224 pixels as f32 cost 0.012 ms with AVX-512
// (`penstock-bench --benchmark_filter=NormaliseF32`).
class Normaliser {
 public:
  static constexpr Colour imagenet_mean{0.485F, 0.456F, 0.406F};
  static constexpr Colour imagenet_deviation{0.229F, 0.224F, 0.225F};

  // Error(invalid_argument) for a deviation of 0 or a number that is not finite.
  explicit Normaliser(const Colour& mean = imagenet_mean, const Colour& deviation = imagenet_deviation);

  // A new tensor of type f32, f16 or bf16 (Error(invalid_argument) for others), [height, width, 3]
  // or [3, height, width].
  Tensor operator()(const ImageView& image, DType type, const NormaliseOptions& options = {}) const;

  // The same into memory of height * width * 3 values; `type` tells f16 from bf16.
  void operator()(const ImageView& image, std::span<float> out, const NormaliseOptions& options = {}) const;
  void operator()(const ImageView& image, DType type, std::span<std::uint16_t> out,
                  const NormaliseOptions& options = {}) const;

  const Colour& mean() const noexcept { return mean_; }
  const Colour& deviation() const noexcept { return deviation_; }
  const detail::NormaliserTables& tables() const noexcept { return tables_; }

 private:
  Colour mean_;
  Colour deviation_;
  detail::NormaliserTables tables_;
};

}  // namespace penstock::image

#pragma GCC visibility pop
