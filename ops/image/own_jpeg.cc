#include "ops/image/own_jpeg.h"

#include <algorithm>

namespace penstock::image {
namespace {

// Pixels beside a window that its smooth colour is made of. Below it libjpeg reads one row more than that.
constexpr std::int64_t kBefore = 1;
constexpr std::int64_t kBehind = 1;
constexpr std::int64_t kBelow = 2;

}  // namespace

Refusal OwnJpeg::read_header(std::span<const std::byte> file, const DecodeOptions& options) {
  if (options.dct != Dct::islow || !options.fancy_upsampling) return Refusal::options;
  file_ = file;
  simd_ = options.simd;
  return read_headers(file, headers_);
}

Refusal OwnJpeg::start(const Window& window) {
  if (const Refusal refusal = scan_.open(file_, headers_, simd_); refusal != Refusal::none) return refusal;
  idct_ = &idct_kernels(simd_);
  for (std::size_t c = 0; c < static_cast<std::size_t>(headers_.components); ++c)
    if (!build(tables_[c], headers_.quantisers[headers_.component[c].quantiser])) return Refusal::tables;
  const auto mcus = [](std::int64_t begin, std::int64_t end, std::int64_t samples) {
    return Range{std::max<std::int64_t>(begin, 0) / samples, divided_up(end, samples)};
  };
  const bool is_wide = headers_.across == 2, is_tall = headers_.down == 2;
  window_ = window;
  across_ = mcus(window.x - (is_wide ? kBefore : 0),
                 std::min(window.x + window.width + (is_wide ? kBehind : 0), headers_.width), 8 * headers_.across);
  down_ = mcus(window.y - (is_tall ? kBefore : 0),
               std::min(window.y + window.height + (is_tall ? kBelow : 0), headers_.height), 8 * headers_.down);
  down_.end = std::min(divided_up(down_.end, headers_.rows_at_once) * headers_.rows_at_once, headers_.mcus_down());
  planes_.begin(headers_, across_.first, across_.end - across_.first, simd_);
  return Refusal::none;
}

Refusal OwnJpeg::read_rows(std::uint8_t* out, std::size_t stride) {
  if (!scan_.skip(down_.first * headers_.mcus_across())) return Refusal::data;
  std::int64_t y = window_.y;
  for (std::int64_t row = down_.first; row < down_.end; ++row) {
    if (const Refusal refusal = decode_row(); refusal != Refusal::none) return refusal;
    planes_.finish(row);
    for (const std::int64_t end = std::min(window_.y + window_.height, planes_.rows_until(row)); y < end;
         ++y, out += stride)
      planes_.write(y, out);
    planes_.keep_last();
  }
  const bool is_whole = down_.end == headers_.mcus_down();
  return is_whole && !scan_.is_at_end() ? Refusal::data : Refusal::none;
}

// Few MCUs at a time: their coefficients stay in the core's own cache until they are transformed.
Refusal OwnJpeg::decode_row() {
  if (!scan_.skip(across_.first)) return Refusal::data;
  const std::int64_t count = across_.end - across_.first;
  constexpr auto at_once = static_cast<std::int64_t>(kMcusAtOnce);
  for (std::int64_t first = 0; first < count; first += at_once) {
    const std::int64_t mcus = std::min(at_once, count - first);
    if (!scan_.store(mcus)) return Refusal::data;
    if (!transform(first, mcus)) return Refusal::coefficients;
  }
  return scan_.skip(headers_.mcus_across() - across_.end) ? Refusal::none : Refusal::data;
}

// The MCUs that the scan has stored, to samples from MCU `first` of the range on.
bool OwnJpeg::transform(std::int64_t first, std::int64_t mcus) {
  bool is_good = true;
  for (std::size_t c = 0; c < static_cast<std::size_t>(headers_.components); ++c) {
    const JpegComponent& component = headers_.component[c];
    const auto groups = static_cast<std::size_t>(divided_up(mcus * component.across, kBlocksInGroup));
    for (int y = 0; y < component.down; ++y) {
      std::uint8_t* const samples = planes_.row(c, 8 * y) + first * 8 * component.across;
      is_good &=
          idct_->transform(scan_.groups(c, y), scan_.has_ac(c, y), groups, tables_[c], samples, planes_.stride(c));
    }
  }
  return is_good;
}

}  // namespace penstock::image
