#include "ops/imagenet/store.h"

#include <algorithm>
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

}  // namespace

void store_pixels(Tensor& out, const image::ImageView& view, const image::NormaliseOptions& how) {
  const auto row_bytes = static_cast<std::size_t>(view.width) * channels;
  write_in_layout(out.values<std::uint8_t>(), how.layout, [&](std::span<std::uint8_t> to) {
    if (how.mirror == image::Mirror::yes) return image::hflip(view, to);
    for (std::int64_t y = 0; y < view.height; ++y)
      std::copy_n(view.row(y), row_bytes, to.data() + static_cast<std::size_t>(y) * row_bytes);
  });
}

void store_normalised(Tensor& out, const image::ImageView& view,
                      const image::NormaliseOptions& how) {
  static const image::Normaliser normaliser;
  if (out.dtype() == DType::f32) return normaliser(view, out.values<float>(), how);
  normaliser(view, out.dtype(), out.values<std::uint16_t>(), how);
}

}  // namespace penstock::imagenet
