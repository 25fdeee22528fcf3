#include "ops/image/jpeg_scan.h"

#include <algorithm>

namespace penstock::image {
namespace {

constexpr std::uint8_t kFirstRestart = 0xd0;  // RST0 (B.1.1.3)
constexpr std::uint8_t kEndOfImage = 0xd9;

// What a thread keeps from one file to the next, a hundred times what usual files need.
constexpr std::size_t kMostKept = std::size_t{16} << 20;

}  // namespace

template <class Table> const Table* JpegScan::Built<Table>::of(const HuffmanCode& wanted) {
  if (code != wanted) {
    build(table, wanted);
    code = wanted;
  }
  return &table;
}

Refusal JpegScan::open(std::span<const std::byte> file, const JpegHeaders& headers, Simd simd) {
  kernels_ = &entropy_kernels(simd);
  if (const Refusal refusal = unstuff(file, headers); refusal != Refusal::none) return refusal;
  plan_blocks(headers);
  begin_interval(0);
  return Refusal::none;
}

// Each restart interval ends with a marker that counts up from RST0 to RST7 and begins again, the last one with the
// image.
Refusal JpegScan::unstuff(std::span<const std::byte> file, const JpegHeaders& headers) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  const std::int64_t mcus = headers.mcus_across() * headers.mcus_down();
  interval_mcus_ = headers.restart_interval > 0 ? headers.restart_interval : mcus;
  const std::int64_t intervals = divided_up(mcus, interval_mcus_);
  const std::size_t room = file.size() - headers.scan + 64 + kReadAhead;
  if (kept_bytes() > kMostKept) let_memory_go();
  data_.resize(room);
  ends_.clear();
  std::size_t at = headers.scan, written = 0;
  for (std::int64_t i = 0; i < intervals; ++i) {
    const UnstuffedScan part = kernels_->unstuff(bytes, file.size(), at, data_.data() + written);
    const bool is_last = i + 1 == intervals;
    if (part.marker != (is_last ? kEndOfImage : kFirstRestart + i % 8)) return Refusal::data;
    written += part.bytes;
    ends_.push_back(written);
    at = part.position + 2;
  }
  return Refusal::none;
}

// Not by assigning {}, with which a vector keeps its memory.
void JpegScan::let_memory_go() {
  data_ = AlignedMemory<std::uint8_t>();
  ends_ = std::vector<std::size_t>();
}

void JpegScan::plan_blocks(const JpegHeaders& headers) {
  block_count_ = 0;
  for (int c = 0; c < headers.components; ++c) {
    const auto number = static_cast<std::size_t>(c);
    const JpegComponent& component = headers.component[number];
    const DcTable* const dc = dc_[component.dc].of(headers.dc[component.dc]);
    const AcTable* const ac = ac_[component.ac].of(headers.ac[component.ac]);
    for (int y = 0; y < component.down; ++y) {
      BlockRow& row = rows_[number][static_cast<std::size_t>(y)];
      std::int16_t* const groups = row.groups.resize(most_groups * kGroupValues);
      std::fill_n(groups, most_groups * kGroupValues, std::int16_t{0});  // a scan that was given up may have left some
      row.has_ac.fill(0);
      for (int x = 0; x < component.across; ++x)
        blocks_[block_count_++] = {dc, ac, c, groups, row.has_ac.data(), component.across, x};
    }
  }
}

void JpegScan::begin_interval(std::size_t number) {
  interval_ = number;
  left_ = interval_mcus_;
  state_ = {.next = data_.data() + (number == 0 ? 0 : ends_[number - 1])};
  predictors_ = {};
}

// Bits of the last byte may be left, whatever they are (F.1.2.3).
bool JpegScan::is_used_up() const {
  const std::int64_t left = static_cast<std::int64_t>(8 * ends_[interval_]) - bits_used(state_, data_.data());
  return left >= 0 && left < 8;
}

bool JpegScan::is_at_end() const { return interval_ + 1 == ends_.size() && is_used_up(); }

// What a call of a kernel reads beyond the interval's end is found after it, and less than kReadAhead.
template <class Decode> bool JpegScan::decode(std::int64_t mcus, const Decode& some) {
  while (mcus > 0) {
    if (left_ == 0) {
      if (interval_ + 1 == ends_.size() || !is_used_up()) return false;
      begin_interval(interval_ + 1);
    }
    const std::int64_t count = std::min({mcus, left_, static_cast<std::int64_t>(kMcusAtOnce)});
    if (!some(static_cast<std::size_t>(count))) return false;
    if (bits_used(state_, data_.data()) > static_cast<std::int64_t>(8 * ends_[interval_])) return false;
    mcus -= count;
    left_ -= count;
  }
  return true;
}

bool JpegScan::skip(std::int64_t mcus) {
  return decode(mcus, [this](std::size_t count) {
    return kernels_->skip_mcus(state_, predictors_.data(), blocks_.data(), block_count_, count);
  });
}

bool JpegScan::store(std::int64_t mcus) {
  std::size_t first = 0;
  return decode(mcus, [&](std::size_t count) {
    const std::size_t end = first + count;
    const bool good = kernels_->store_mcus(state_, predictors_.data(), blocks_.data(), block_count_, first, end);
    first = end;
    return good;
  });
}

}  // namespace penstock::image
