#include "ops/imagenet/store.h"

#include <vector>

namespace penstock::imagenet {
namespace {

constexpr std::size_t channels = image::channels;

template <class Value>
void to_planes(std::span<const Value> interleaved, std::span<Value> planes) {
  const std::size_t pixels = interleaved.size() / channels;
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i) planes[c * pixels + i] = interleaved[channels * i + c];
}

// Writes by way of interleaved memory of this thread if the result has planes.
template <class Value, class Write>
void write_in_layout(std::span<Value> out, image::Layout layout, const Write& write) {
  if (layout == image::Layout::nhwc) return write(out);
  thread_local std::vector<Value> interleaved;
  interleaved.resize(out.size());
  write(std::span<Value>(interleaved));
  to_planes<Value>(interleaved, out);
}

void convert(std::span<const float> values, DType type, std::span<std::uint16_t> out) {
  if (type == DType::f16) return image::convert_to_f16(values, out);
  image::convert_to_bf16(values, out);
}

// The values that `fill` writes, in memory of this thread.
std::span<const float> filled(std::size_t count,
                              const std::function<void(std::span<float>)>& fill) {
  thread_local std::vector<float> values;
  values.resize(count);
  fill(values);
  return values;
}

}  // namespace

void store_values(Tensor& out, image::Layout layout,
                  const std::function<void(std::span<float>)>& fill) {
  if (out.dtype() == DType::f32) return write_in_layout(out.values<float>(), layout, fill);
  const std::span<const float> values = filled(static_cast<std::size_t>(out.size()), fill);
  if (out.dtype() == DType::u8)
    return write_in_layout(out.values<std::uint8_t>(), layout,
                           [&](std::span<std::uint8_t> to) { image::convert_to_u8(values, to); });
  write_in_layout(out.values<std::uint16_t>(), layout,
                  [&](std::span<std::uint16_t> to) { convert(values, out.dtype(), to); });
}

const image::Normaliser& imagenet_normaliser() {
  static const image::Normaliser normaliser;
  return normaliser;
}

}  // namespace penstock::imagenet
