#include <array>
#include <cstring>

#include "ops/image/store_kernels.h"

namespace penstock::image {
namespace {

template <class Value>
void look_up(const std::array<std::array<Value, 256>, 3>& table, const RowTarget& to, const std::uint8_t* row,
             std::size_t width) {
  const bool planes = to.layout == Layout::nchw;
  const std::size_t pixel = planes ? 1 : channels, colour = planes ? to.plane : 1;
  auto* const out = reinterpret_cast<Value*>(to.at);
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t x = 0; x < width; ++x) out[c * colour + x * pixel] = table[c][row[channels * x + c]];
}

void store_bytes(const RowTarget& to, const std::uint8_t* row, std::size_t width) {
  if (to.layout == Layout::nhwc) {
    std::memcpy(to.at, row, width * channels);
    return;
  }
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t x = 0; x < width; ++x) to.at[c * to.plane + x] = std::byte{row[channels * x + c]};
}

void store(const detail::NormaliserTables& how, const RowTarget& to, const std::uint8_t* row, std::size_t width) {
  switch (to.type) {
    case DType::f32: return look_up(how.f32, to, row, width);
    case DType::f16: return look_up(how.f16, to, row, width);
    case DType::bf16: return look_up(how.bf16, to, row, width);
    default: return store_bytes(to, row, width);
  }
}

void mirror(const std::uint8_t* row, std::size_t width, std::uint8_t* to) {
  for (std::size_t x = 0; x < width; ++x, to += channels) std::memcpy(to, row + (width - 1 - x) * channels, channels);
}

}  // namespace

const StoreKernels kScalarStore{&store, &mirror};

}  // namespace penstock::image
