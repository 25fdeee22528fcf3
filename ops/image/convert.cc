// Needs -ffp-contract=off, which .cmake/options.cmake sets everywhere: normalised values are
// specified operation by operation.
#include <penstock/image/convert.h>
#include <penstock/image/output.h>

#include <bit>
#include <cmath>
#include <string>

#include "ops/image/check.h"
#include "ops/image/convert_kernels.h"

namespace penstock::image {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000;
constexpr std::uint32_t f32_infinity = 0x7f800000;
constexpr std::uint32_t f16_too_large = 0x47800000;  // 2^16
constexpr std::uint32_t f16_normal = 0x38800000;     // 2^-14, the smallest normal half

void check_lengths(std::size_t from, std::size_t to) {
  if (from != to)
    throw Error(ErrorCode::invalid_argument,
                "convert: " + std::to_string(from) + " values do not fit a span of " + std::to_string(to));
}

// Half of the bits drop out; what is added makes exactly the right values carry: halves only into
// an odd result.
std::uint32_t rounded_shift(std::uint32_t bits, int shift) {
  const std::uint32_t odd = (bits >> shift) & 1;
  return (bits + ((1U << (shift - 1)) - 1) + odd) >> shift;
}

}  // namespace

std::uint16_t to_f16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits & sign_bit) >> 16);
  const std::uint32_t size = bits & ~sign_bit;
  std::uint32_t half = 0;
  if (size > f32_infinity) {
    half = 0x7e00;
  } else if (size >= f16_too_large) {
    half = 0x7c00;
  } else if (size >= f16_normal) {
    half = rounded_shift(size - ((127U - 15U) << 23), 13);
  } else {
    // The spacing of floats at 0.5 is that of subnormal halves, 2^-24: the addition does the
    // rounding.
    const float shifted = std::bit_cast<float>(size) + 0.5F;
    half = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F);
  }
  return static_cast<std::uint16_t>(sign | half);
}

std::uint16_t to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & ~sign_bit) > f32_infinity;
  return static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x40 : rounded_shift(bits, 16));
}

float from_f16(std::uint16_t bits) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t size = bits & 0x7fff;
  if (size >= 0x7c00) return std::bit_cast<float>(sign | f32_infinity | (size & 0x3ff) << 13);
  // A half's exponent counts from 15, a float's from 127; the product is exact, for subnormals too.
  const float value = std::bit_cast<float>(size << 13) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

float from_bf16(std::uint16_t bits) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::uint8_t to_u8(float value) noexcept {
  const float inside = value > 0 ? (value < 255 ? value : 255.0F) : 0.0F;
  // 2^23 has spacing 1, so the sum is rounded to a whole number.
  const float rounded = (inside + 0x1p23F) - 0x1p23F;
  return static_cast<std::uint8_t>(rounded);
}

void convert_to_f16(std::span<const float> from, std::span<std::uint16_t> to) {
  check_lengths(from.size(), to.size());
  convert_kernels(Simd::automatic).to_f16(from.data(), to.data(), from.size());
}

void convert_to_bf16(std::span<const float> from, std::span<std::uint16_t> to) {
  check_lengths(from.size(), to.size());
  convert_kernels(Simd::automatic).to_bf16(from.data(), to.data(), from.size());
}

void convert_to_u8(std::span<const float> from, std::span<std::uint8_t> to) {
  check_lengths(from.size(), to.size());
  convert_kernels(Simd::automatic).to_u8(from.data(), to.data(), from.size());
}

namespace {

const Colour& checked(const Colour& mean, const Colour& deviation) {
  for (std::size_t c = 0; c < 3; ++c)
    if (!std::isfinite(mean[c]) || !std::isfinite(deviation[c]) || deviation[c] == 0)
      throw Error(ErrorCode::invalid_argument,
                  "Normaliser: mean must be finite and deviation finite and not 0, but colour " + std::to_string(c) +
                      " has " + std::to_string(mean[c]) + " and " + std::to_string(deviation[c]));
  return mean;
}

void set(detail::NormaliserPattern& pattern, std::size_t i, float mean, float deviation) {
  pattern.mean[i] = mean;
  pattern.deviation[i] = deviation;
  pattern.reciprocal[i] = 1 / deviation;
}

// As the kernels with a fused multiply and add do it.
float corrected_quotient(float value, float deviation) {
  const float reciprocal = 1 / deviation;
  const float quotient = value * reciprocal;
  return std::fma(std::fma(-quotient, deviation, value), reciprocal, quotient);
}

bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

}  // namespace

detail::NormaliserTables::NormaliserTables(float the_scale, const Colour& mean, const Colour& deviation)
    : scale(the_scale) {
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < 16; ++i) {
      set(interleaved, 3 * i + c, mean[c], deviation[c]);
      set(planes, 16 * c + i, mean[c], deviation[c]);
    }
    for (std::size_t x = 0; x < 256; ++x) {
      const float shifted = static_cast<float>(x) * scale - mean[c];
      const float value = shifted / deviation[c];
      corrects_exactly = corrects_exactly && same_bits(value, corrected_quotient(shifted, deviation[c]));
      f32[c][x] = value;
      f16[c][x] = to_f16(value);
      bf16[c][x] = to_bf16(value);
    }
  }
}

Normaliser::Normaliser(const Colour& mean, const Colour& deviation)
    : mean_(checked(mean, deviation)),
      deviation_(deviation),
      tables_(static_cast<float>(1.0 / 255.0), mean, deviation) {}

namespace {

template <class Value>
void normalise(const ImageView& image, const Normaliser& normaliser, DType type, std::span<Value> out,
               const NormaliseOptions& options) {
  check_room(out.size(), {image.height, image.width}, "Normaliser");
  store(image, {.memory = std::as_writable_bytes(out),
                .type = type,
                .layout = options.layout,
                .mirror = options.mirror,
                .normaliser = &normaliser});
}

}  // namespace

void Normaliser::operator()(const ImageView& image, std::span<float> out, const NormaliseOptions& options) const {
  normalise(image, *this, DType::f32, out, options);
}

void Normaliser::operator()(const ImageView& image, DType type, std::span<std::uint16_t> out,
                            const NormaliseOptions& options) const {
  if (type != DType::f16 && type != DType::bf16)
    throw Error(ErrorCode::invalid_argument,
                "Normaliser: 16-bit values are f16 or bf16, not " + std::string(to_string(type)));
  normalise(image, *this, type, out, options);
}

Tensor Normaliser::operator()(const ImageView& image, DType type, const NormaliseOptions& options) const {
  if (type != DType::f32 && type != DType::f16 && type != DType::bf16)
    throw Error(ErrorCode::invalid_argument,
                "Normaliser: values are f32, f16 or bf16, not " + std::string(to_string(type)));
  const bool planes = options.layout == Layout::nchw;
  Tensor result(type, planes ? Shape{channels, image.height, image.width} : Shape{image.height, image.width, channels});
  if (type == DType::f32)
    (*this)(image, result.values<float>(), options);
  else
    (*this)(image, type, result.values<std::uint16_t>(), options);
  return result;
}

}  // namespace penstock::image
