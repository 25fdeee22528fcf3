#include "tests/ops/image/kernel_scan.h"

#include <algorithm>
#include <memory>

namespace penstock::testing {
namespace {

using namespace image;

std::size_t rounded_up(std::int64_t value, int unit) { return static_cast<std::size_t>((value + unit - 1) / unit); }

// Coefficients of one row of MCUs, those of one row of blocks.
struct RowOfBlocks {
  std::size_t component = 0;
  std::vector<std::int16_t> groups;
  std::vector<std::uint8_t> has_ac;
};

class KernelScan {
 public:
  KernelScan(std::span<const std::byte> file, const JpegHeaders& headers, const EntropyKernels& kernels)
      : file_(reinterpret_cast<const std::uint8_t*>(file.data())),
        file_bytes_(file.size()),
        headers_(headers),
        kernels_(kernels) {
    across_ = rounded_up(headers.width, 8 * headers.across);
    down_ = rounded_up(headers.height, 8 * headers.down);
    position_ = headers.scan;
    for (std::size_t i = 0; i < components(); ++i) add_component(i);
    plan_blocks();
  }

  ScanCoefficients read() {
    begin_interval();
    for (std::size_t y = 0; y < down_ && found_.wrong.empty(); ++y) {
      for (std::size_t x = 0; x < across_ && found_.wrong.empty();) x = read_mcus(x);
      copy_rows();
    }
    if (found_.wrong.empty()) end_interval(0xd9);
    return std::move(found_);
  }

 private:
  std::size_t components() const { return static_cast<std::size_t>(headers_.components); }

  void add_component(std::size_t i) {
    dc_.push_back(std::make_unique<DcTable>());
    ac_.push_back(std::make_unique<AcTable>());
    build(*dc_.back(), headers_.dc[headers_.component[i].dc]);
    build(*ac_.back(), headers_.ac[headers_.component[i].ac]);
    const std::size_t blocks = across_ * static_cast<std::size_t>(headers_.component[i].across);
    const std::size_t groups = (blocks + kBlocksInGroup - 1) / kBlocksInGroup;
    found_.components.push_back({blocks, {}});
    for (int y = 0; y < headers_.component[i].down; ++y)
      rows_.push_back({i, std::vector<std::int16_t>(groups * kGroupValues), std::vector<std::uint8_t>(groups)});
  }

  void plan_blocks() {
    for (RowOfBlocks& row : rows_)
      for (int x = 0; x < headers_.component[row.component].across; ++x)
        blocks_.push_back({dc_[row.component].get(), ac_[row.component].get(), static_cast<int>(row.component),
                           row.groups.data(), row.has_ac.data(), headers_.component[row.component].across, x});
  }

  void begin_interval() {
    data_.assign(file_bytes_ - position_ + 64, 0);
    scan_ = kernels_.unstuff(file_, file_bytes_, position_, data_.data());
    data_.resize(scan_.bytes);
    data_.resize(scan_.bytes + kReadAhead);
    state_ = {.next = data_.data()};
    left_ = headers_.restart_interval;
    std::fill(std::begin(predictors_), std::end(predictors_), 0);
  }

  void end_interval(unsigned marker) {
    const std::int64_t left = 8 * static_cast<std::int64_t>(scan_.bytes) - bits_used(state_, data_.data());
    if (left < 0 || left > 7) found_.wrong = std::to_string(left) + " bits are left";
    if (scan_.marker != marker) found_.wrong = "marker " + std::to_string(scan_.marker);
    position_ = scan_.position + 2;
  }

  std::size_t read_mcus(std::size_t first) {
    if (headers_.restart_interval > 0 && left_ == 0) {
      end_interval(0xd0 + restarts_++ % 8);
      begin_interval();
    }
    std::size_t count = std::min(kMcusAtOnce, across_ - first);
    if (headers_.restart_interval > 0) count = std::min(count, static_cast<std::size_t>(left_));
    left_ -= static_cast<std::int64_t>(count);
    store(first, first + count);
    return first + count;
  }

  void store(std::size_t first, std::size_t end) {
    BitState skipping = state_;
    std::int32_t predictors[3] = {predictors_[0], predictors_[1], predictors_[2]};
    const bool skipped = kernels_.skip_mcus(skipping, predictors, blocks_.data(), blocks_.size(), end - first);
    const bool stored = kernels_.store_mcus(state_, predictors_, blocks_.data(), blocks_.size(), first, end);
    if (!stored) found_.wrong = "anomaly in storing";
    if (stored != skipped) found_.wrong += "anomaly in one of storing and skipping";
    const bool same_bits = bits_used(skipping, data_.data()) == bits_used(state_, data_.data());
    if (!same_bits || !std::equal(predictors, predictors + 3, predictors_))
      found_.wrong += "storing and skipping differ";
    if (bits_used(state_, data_.data()) > 8 * static_cast<std::int64_t>(scan_.bytes)) found_.wrong += "beyond the data";
  }

  void copy_rows() {
    for (RowOfBlocks& row : rows_) {
      ScanCoefficients::Component& component = found_.components[row.component];
      for (std::size_t x = 0; x < component.across; ++x) {
        auto& block = component.blocks.emplace_back();
        const std::int16_t* const from = row.groups.data() + x / 4 * kGroupValues + x % 4 * 8;
        for (std::size_t i = 0; i < 64; ++i) block[i] = from[i / 8 * kGroupStride + i % 8];
        const bool has_ac = std::any_of(block.begin() + 1, block.end(), [](std::int16_t value) { return value != 0; });
        if (has_ac && row.has_ac[x / 4] == 0) found_.wrong = "has_ac is 0 where there are AC coefficients";
      }
      std::fill(row.groups.begin(), row.groups.end(), std::int16_t{0});
      std::fill(row.has_ac.begin(), row.has_ac.end(), std::uint8_t{0});
    }
  }

  const std::uint8_t* file_;
  std::size_t file_bytes_;
  const JpegHeaders& headers_;
  const EntropyKernels& kernels_;
  std::size_t across_ = 0, down_ = 0, position_ = 0;
  std::vector<std::unique_ptr<DcTable>> dc_;
  std::vector<std::unique_ptr<AcTable>> ac_;
  std::vector<RowOfBlocks> rows_;
  std::vector<BlockPlan> blocks_;
  std::vector<std::uint8_t> data_;
  UnstuffedScan scan_;
  BitState state_;
  std::int32_t predictors_[3] = {};
  std::int64_t left_ = 0;
  unsigned restarts_ = 0;
  ScanCoefficients found_;
};

}  // namespace

ScanCoefficients kernel_coefficients(std::span<const std::byte> file, const JpegHeaders& headers,
                                     const EntropyKernels& kernels) {
  return KernelScan(file, headers, kernels).read();
}

}  // namespace penstock::testing
