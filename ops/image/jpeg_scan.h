// The entropy-coded data of a scan (ITU-T T.81, F.2): MCU after MCU, across restart intervals (E.1.4).
//
//   JpegScan scan;
//   scan.open(file, headers, Simd::automatic);         // Refusal::none
//   scan.skip(100);                                    // MCUs; true
//   scan.store(16);                                    // the next 16, into scan.groups(component, y)
//
// Not thread-safe. Nothing here trusts the data: false means that libjpeg would find something to say about it.
#pragma once

#include <penstock/image/jpeg.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/image/aligned_memory.h"
#include "ops/image/entropy_kernels.h"
#include "ops/image/jpeg_markers.h"

namespace penstock::image {

class JpegScan {
 public:
  // The next scan. What is not none: it must not be read. Memory for the largest file so far is kept; if that is more
  // than 16 MiB, until the next file only.
  Refusal open(std::span<const std::byte> file, const JpegHeaders& headers, Simd simd);

  // The next `mcus` of all, in order. Never past the last one of the image.
  bool skip(std::int64_t mcus);

  // The same, at most kMcusAtOnce, into the groups of each component, from the first block on. The groups must be all
  // 0.
  bool store(std::int64_t mcus);

  // Whether all data is used but the padding of the last byte; to be asked behind the last MCU.
  bool is_at_end() const;

  // The groups of row `y` of a component's blocks, of which an MCU has `down`; and whether each has more than first
  // coefficients.
  std::int16_t* groups(std::size_t component, int y) {
    return rows_[component][static_cast<std::size_t>(y)].groups.data();
  }
  std::uint8_t* has_ac(std::size_t component, int y) {
    return rows_[component][static_cast<std::size_t>(y)].has_ac.data();
  }

  // Memory for the data of a scan.
  std::size_t kept_bytes() const { return data_.bytes() + ends_.capacity() * sizeof(std::size_t); }

 private:
  // of a row: an MCU has at most 2 blocks across
  static constexpr std::size_t most_groups = kMcusAtOnce * 2 / kBlocksInGroup;

  // A code with its table, which most files share with the file before.
  template <class Table> struct Built {
    HuffmanCode code;
    Table table;
    const Table* of(const HuffmanCode& wanted);
  };
  struct BlockRow {
    AlignedMemory<std::int16_t> groups;
    std::array<std::uint8_t, most_groups> has_ac;
  };

  Refusal unstuff(std::span<const std::byte> file, const JpegHeaders& headers);
  void let_memory_go();
  void plan_blocks(const JpegHeaders& headers);
  void begin_interval(std::size_t number);
  bool is_used_up() const;
  template <class Decode> bool decode(std::int64_t mcus, const Decode& some);

  const EntropyKernels* kernels_ = nullptr;
  std::array<Built<DcTable>, 4> dc_{};
  std::array<Built<AcTable>, 4> ac_{};
  std::array<std::array<BlockRow, 2>, 3> rows_;
  std::array<BlockPlan, kMostBlocksInMcu> blocks_{};
  std::size_t block_count_ = 0;

  // Invariant: behind the last interval's end `data_` has kReadAhead bytes more. What lies there is arbitrary: who has
  // read it is found to be past the end.
  AlignedMemory<std::uint8_t> data_;
  std::vector<std::size_t> ends_;   // of the restart intervals in data_
  std::int64_t interval_mcus_ = 0;  // of each but the last
  std::size_t interval_ = 0;        // the one that is read
  std::int64_t left_ = 0;           // MCUs of it
  BitState state_;
  std::array<std::int32_t, 3> predictors_{};
};

}  // namespace penstock::image
