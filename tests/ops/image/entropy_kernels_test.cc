// Each instruction set against coefficients that were written, against libjpeg's, and on data that is no JPEG at all.
#include "ops/image/entropy_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ops/image/simd.h"
#include "tests/ops/image/kernel_scan.h"
#include "tests/ops/image/kernels.h"
#include "tests/ops/image/libjpeg_oracle.h"
#include "tests/ops/image/scan_writer.h"
#include "tests/support/file_contents.h"
#include "tests/support/guarded_memory.h"
#include "tests/support/pictures/encode_jpeg.h"
#include "tests/support/shared_data.h"

namespace penstock::image {
namespace {

using testing::ac_symbols;
using testing::as_file;
using testing::Block;
using testing::dc_symbols;
using testing::drawn;
using testing::drawn_code;
using testing::Guard;
using testing::GuardedMemory;
using testing::header_bytes;
using testing::kernel_coefficients;
using testing::LibjpegCoefficients;
using testing::ScanCoefficients;
using testing::ScanWriter;
using testing::written_code;
using testing::WrittenCode;
using ScanBytes = std::vector<std::uint8_t>;

class EntropyKernelsTest : public ::testing::TestWithParam<Simd> {
 protected:
  const EntropyKernels& kernels() const { return entropy_kernels(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Simd, EntropyKernelsTest, ::testing::ValuesIn(supported_simd()), name_of);

// ------------------------------------------------------------------------------------------------
// Whole files

// What libjpeg keeps of the kernels' blocks: those that lie in the image.
std::string difference(const ScanCoefficients& ours, const LibjpegCoefficients& theirs) {
  if (!ours.wrong.empty()) return ours.wrong;
  if (!theirs.error.empty() || theirs.warnings != 0)
    return "libjpeg: " + theirs.error + std::to_string(theirs.warnings);
  for (std::size_t i = 0; i < theirs.components.size(); ++i) {
    const auto& component = theirs.components[i];
    for (std::int64_t y = 0; y < component.down; ++y)
      for (std::int64_t x = 0; x < component.across; ++x) {
        const std::size_t at = static_cast<std::size_t>(y) * ours.components[i].across + static_cast<std::size_t>(x);
        const auto& block = component.blocks[static_cast<std::size_t>(y * component.across + x)];
        if (ours.components[i].blocks[at] != block)
          return "component " + std::to_string(i) + ", block " + std::to_string(x) + ", " + std::to_string(y);
      }
  }
  return {};
}

std::string difference_on(std::span<const std::byte> file, const EntropyKernels& kernels) {
  JpegHeaders headers;
  if (const Refusal refusal = read_headers(file, headers); refusal != Refusal::none)
    return std::string(to_string(refusal));
  return difference(kernel_coefficients(file, headers, kernels), testing::libjpeg_coefficients(file));
}

TEST_P(EntropyKernelsTest, FindTheCoefficientsOfRealFilesThatLibjpegFinds) {
  PENSTOCK_NEEDS_SHARED("data");
  std::size_t number = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::shared_folder() / "data")) {
    const std::string name = entry.path().extension().string();
    if ((name != ".JPEG" && name != ".jpg") || number++ % 3 != 0) continue;  // a third of them
    const std::string contents = test::file_contents(entry.path());
    ASSERT_EQ(difference_on(std::as_bytes(std::span(contents)), kernels()), "") << entry.path();
  }
}

// Soft shades with some noise, for files of all rates.
std::vector<std::uint8_t> painted(std::int64_t height, std::int64_t width, int bytes_per_pixel, unsigned noise,
                                  std::minstd_rand& random) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < bytes_per_pixel; ++c)
        pixels.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(x * 3 + y * (c + 1)) + drawn(random, noise)));
  return pixels;
}

TEST_P(EntropyKernelsTest, FindTheCoefficientsOfLibjpegsFilesOfAllKinds) {
  struct Sampling {
    int across, down;
  };
  std::minstd_rand random(1);
  for (int quality = 1; quality <= 100; ++quality)
    for (const Sampling sampling : {Sampling{0, 0}, {1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
      const auto height = static_cast<std::int64_t>(1 + drawn(random, 100)),
                 width = static_cast<std::int64_t>(5 + drawn(random, 200));
      pictures::EncodeOptions options{.quality = quality, .restart_rows = static_cast<int>(drawn(random, 3))};
      options.colour = sampling.across == 0 ? pictures::JpegColour::grey : pictures::JpegColour::ycc;
      options.luma_h = std::max(sampling.across, 1);
      options.luma_v = std::max(sampling.down, 1);
      const auto pixels =
          painted(height, width, pictures::bytes_per_pixel(options.colour), 1U << drawn(random, 8), random);
      const auto file = pictures::encode_jpeg(pixels, height, width, options);
      ASSERT_EQ(difference_on(file, kernels()), "")
          << "quality " << quality << ", " << sampling.across << sampling.down;
    }
}

// ------------------------------------------------------------------------------------------------
// Coefficients and codes of any kind

struct DrawnFile {
  JpegHeaders headers;
  ScanBytes bytes;
  std::vector<std::vector<Block>> blocks;  // of each component, in the order of their rows
};

std::int16_t drawn_value(unsigned most_bits, std::minstd_rand& random) {
  const unsigned bits = drawn(random, most_bits + 1);
  if (bits == 0) return 0;
  const auto size = static_cast<std::int32_t>((1U << (bits - 1)) + drawn(random, 1U << (bits - 1)));
  return static_cast<std::int16_t>(drawn(random, 2) == 0 ? size : -size);
}

Block drawn_block(unsigned most_bits, unsigned density, std::minstd_rand& random) {
  Block block{};
  block[0] = drawn_value(std::min(most_bits, 14U), random);  // differences have 15 bits then
  for (std::size_t i = 1; i < 64; ++i)
    if (drawn(random, 64) < density) block[i] = drawn_value(most_bits, random);
  return block;
}

JpegHeaders drawn_headers(unsigned most_bits, std::minstd_rand& random) {
  const bool is_grey = drawn(random, 4) == 0;
  JpegHeaders headers{};
  headers.width = static_cast<std::int64_t>(5 + drawn(random, 300));
  headers.height = static_cast<std::int64_t>(1 + drawn(random, 60));
  headers.components = is_grey ? 1 : 3;
  headers.across = headers.component[0].across = is_grey ? 1 : 1 + static_cast<int>(drawn(random, 2));
  headers.down = headers.component[0].down = is_grey ? 1 : 1 + static_cast<int>(drawn(random, 2));
  headers.restart_interval = static_cast<std::int64_t>(drawn(random, 2) * drawn(random, 50));
  headers.quantisers[0].fill(1);
  for (std::size_t i = 0; i < 3; ++i) {
    headers.component[i].id = static_cast<std::uint8_t>(i + 1);
    headers.component[i].dc = headers.component[i].ac = static_cast<std::uint8_t>(drawn(random, 4));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    headers.dc[i] = drawn_code(dc_symbols(std::min(most_bits + 1, 15U)), drawn(random, 100), random);
    headers.ac[i] = drawn_code(ac_symbols(most_bits), drawn(random, 100), random);
  }
  return headers;
}

class FileWriter {
 public:
  FileWriter(const JpegHeaders& headers, unsigned most_bits, unsigned density, std::minstd_rand& random)
      : headers_(headers), most_bits_(most_bits), density_(density), random_(random) {
    for (const JpegComponent& component : headers.component) {
      dc_.push_back(written_code(headers.dc[component.dc]));
      ac_.push_back(written_code(headers.ac[component.ac]));
    }
  }

  DrawnFile write() {
    const std::int64_t across = (headers_.width + 8 * headers_.across - 1) / (8 * headers_.across);
    const std::int64_t down = (headers_.height + 8 * headers_.down - 1) / (8 * headers_.down);
    file_.headers = headers_;
    file_.blocks.resize(static_cast<std::size_t>(headers_.components));
    for (std::size_t i = 0; i < file_.blocks.size(); ++i)
      file_.blocks[i].resize(
          static_cast<std::size_t>(across * down * headers_.component[i].across * headers_.component[i].down));
    for (std::int64_t y = 0; y < down; ++y)
      for (std::int64_t x = 0; x < across; ++x) write_mcu(x, y, across);
    writer_.put_marker(0xd9);
    file_.bytes = header_bytes(headers_);
    file_.headers.scan = file_.bytes.size();
    file_.bytes.insert(file_.bytes.end(), writer_.bytes().begin(), writer_.bytes().end());
    return std::move(file_);
  }

 private:
  void write_mcu(std::int64_t mcu_x, std::int64_t mcu_y, std::int64_t mcus_across) {
    if (headers_.restart_interval > 0 && mcus_ > 0 && mcus_ % headers_.restart_interval == 0) {
      writer_.put_marker(0xd0 + static_cast<unsigned>(mcus_ / headers_.restart_interval - 1) % 8);
      std::fill(std::begin(predictions_), std::end(predictions_), 0);
    }
    ++mcus_;
    for (std::size_t i = 0; i < file_.blocks.size(); ++i) {
      const JpegComponent& component = headers_.component[i];
      for (int y = 0; y < component.down; ++y)
        for (int x = 0; x < component.across; ++x) {
          const std::int64_t row = mcu_y * component.down + y, column = mcu_x * component.across + x;
          const Block block = drawn_block(most_bits_, density_, random_);
          file_.blocks[i][static_cast<std::size_t>(row * mcus_across * component.across + column)] = block;
          writer_.put_block(block, predictions_[i], dc_[i], ac_[i]);
        }
    }
  }

  const JpegHeaders& headers_;
  unsigned most_bits_, density_;
  std::minstd_rand& random_;
  std::vector<WrittenCode> dc_, ac_;
  ScanWriter writer_;
  DrawnFile file_;
  std::int32_t predictions_[3] = {};
  std::int64_t mcus_ = 0;
};

DrawnFile drawn_file(std::minstd_rand& random) {
  const unsigned most_bits = 1 + drawn(random, 15), density = 1 + drawn(random, 64);
  const JpegHeaders headers = drawn_headers(most_bits, random);
  return FileWriter(headers, most_bits, density, random).write();
}

TEST_P(EntropyKernelsTest, FindDrawnCoefficientsOfDrawnCodes) {
  std::minstd_rand random(7);
  for (int i = 0; i < 150; ++i) {
    const DrawnFile file = drawn_file(random);
    const ScanCoefficients found = kernel_coefficients(as_file(file.bytes), file.headers, kernels());
    ASSERT_EQ(found.wrong, "") << i;
    for (std::size_t c = 0; c < file.blocks.size(); ++c) ASSERT_TRUE(found.components[c].blocks == file.blocks[c]) << i;
  }
}

TEST(ScanWriter, WritesWhatLibjpegReads) {
  std::minstd_rand random(7);
  for (int i = 0; i < 30; ++i) {
    const DrawnFile file = drawn_file(random);
    ASSERT_EQ(difference_on(as_file(file.bytes), kScalarEntropy), "") << i;
  }
}

// ------------------------------------------------------------------------------------------------
// Data that is no JPEG

struct Tables {
  DcTable dc;
  AcTable ac;
};

std::unique_ptr<Tables> tables_of(const HuffmanCode& dc, const HuffmanCode& ac) {
  auto tables = std::make_unique<Tables>();
  build(tables->dc, dc);
  build(tables->ac, ac);
  return tables;
}

// How a call ended.
struct Ending {
  bool is_good;
  std::int64_t bits;
  std::int32_t prediction;

  friend bool operator==(const Ending&, const Ending&) = default;
};

// 16 MCUs of six blocks from `data`, which repeats to kReadAhead bytes, behind which nobody may read; groups lie
// between pages that nobody may touch.
Ending store_from(const ScanBytes& data, const Tables& tables, const EntropyKernels& kernels, Guard guard) {
  const GuardedMemory<std::uint8_t> memory(kReadAhead);
  for (std::size_t i = 0; i < kReadAhead; ++i) memory.data()[i] = data[i % data.size()];
  const GuardedMemory<std::int16_t> groups(6 * 4 * kGroupValues, guard);
  const GuardedMemory<std::uint8_t> has_ac(6 * 4, guard);
  BlockPlan blocks[kMostBlocksInMcu];
  for (std::size_t i = 0; i < kMostBlocksInMcu; ++i)
    blocks[i] = {&tables.dc, &tables.ac, 0, groups.data() + i * 4 * kGroupValues, has_ac.data() + i * 4, 1, 0};
  BitState state{.next = memory.data()};
  Ending ending{};
  ending.is_good = kernels.store_mcus(state, &ending.prediction, blocks, kMostBlocksInMcu, 0, kMcusAtOnce);
  ending.bits = bits_used(state, memory.data());
  return ending;
}

Ending skip_from(const ScanBytes& data, const Tables& tables, const EntropyKernels& kernels) {
  const GuardedMemory<std::uint8_t> memory(kReadAhead);
  for (std::size_t i = 0; i < kReadAhead; ++i) memory.data()[i] = data[i % data.size()];
  BlockPlan blocks[kMostBlocksInMcu];
  for (BlockPlan& block : blocks) block = {&tables.dc, &tables.ac, 0, nullptr, nullptr, 1, 0};
  BitState state{.next = memory.data()};
  Ending ending{};
  ending.is_good = kernels.skip_mcus(state, &ending.prediction, blocks, kMostBlocksInMcu, kMcusAtOnce);
  ending.bits = bits_used(state, memory.data());
  return ending;
}

// A code of one symbol or of all, with any lengths: what a DHT segment may say.
HuffmanCode hostile_code(bool is_dc, std::minstd_rand& random) {
  std::vector<std::uint8_t> symbols;
  for (unsigned i = 0; i < (is_dc ? 16U : 256U); ++i) symbols.push_back(static_cast<std::uint8_t>(i));
  std::shuffle(symbols.begin(), symbols.end(), random);
  symbols.resize(drawn(random, 3) == 0 ? 1 + drawn(random, 3) : symbols.size());
  return drawn_code(symbols, drawn(random, 100), random);
}

TEST_P(EntropyKernelsTest, ReadAndWriteNothingOutsideWhateverTheDataAndTheCodes) {
  std::minstd_rand random(11);
  int good = 0;
  for (int i = 0; i < 400; ++i) {
    const auto tables = tables_of(hostile_code(true, random), hostile_code(false, random));
    ScanBytes noise(1 + drawn(random, 3000));
    for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(drawn(random, 256));
    for (const ScanBytes& data : {ScanBytes{0}, ScanBytes{0xff}, ScanBytes{0xaa}, noise}) {
      const Ending stored = store_from(data, *tables, kernels(), i % 2 == 0 ? Guard::behind : Guard::before);
      ASSERT_TRUE(skip_from(data, *tables, kernels()) == stored) << i;
      ASSERT_TRUE(store_from(data, *tables, kScalarEntropy, Guard::behind) == stored) << i;
      ASSERT_LE(stored.bits, static_cast<std::int64_t>(kMcusAtOnce * kMostBlocksInMcu * 1984));
      good += stored.is_good ? 1 : 0;
    }
  }
  EXPECT_GT(good, 0);
  EXPECT_LT(good, 1600);
}

// As many bits as there can be: 16 of code and 15 of value for each coefficient.
TEST_P(EntropyKernelsTest, ReadTheLongestBlocksThatThereAre) {
  HuffmanCode dc{.is_there = true}, ac{.is_there = true};
  dc.counts[16] = ac.counts[16] = 1;
  dc.symbols[0] = ac.symbols[0] = 15;
  const auto tables = tables_of(dc, ac);
  // 16 zeros, the code, and 15 bits of value: ones only, then zeros only.
  ScanBytes up, down;
  ScanWriter ones, zeros;
  for (int i = 0; i < 8; ++i) {
    ones.put(0x7fff, 31);
    zeros.put(0, 31);
  }
  ScanBytes data;
  for (const std::uint8_t byte : ones.bytes())
    if (data.empty() || byte != 0 || data.back() != 0xff) data.push_back(byte);
  const Ending stored = store_from(data, *tables, kernels(), Guard::behind);
  EXPECT_EQ(stored.bits, static_cast<std::int64_t>(kMcusAtOnce * kMostBlocksInMcu * 1984));
  EXPECT_FALSE(stored.is_good) << "the predictions leave their range";
  EXPECT_EQ(stored.prediction, 96 * 32767);
  EXPECT_TRUE(skip_from(data, *tables, kernels()) == stored);
  EXPECT_EQ(store_from(zeros.bytes(), *tables, kernels(), Guard::behind).prediction, -96 * 32767);
}

// ------------------------------------------------------------------------------------------------
// Anomalies

// Codes for blocks that are put by hand: of 4 bits, or of 5 for the last DC symbol. Two AC symbols fit into one
// look-up.
struct PlainCodes {
  HuffmanCode dc, ac;
  WrittenCode written_dc, written_ac;
  std::unique_ptr<Tables> tables;

  PlainCodes() {
    dc.is_there = ac.is_there = true;
    dc.counts[4] = 15;
    dc.counts[5] = 1;
    for (unsigned i = 0; i < 16; ++i) dc.symbols[i] = static_cast<std::uint8_t>(i);
    ac.counts[4] = 10;
    ac.symbols = {0x00, 0x01, 0x10, 0x11, 0x70, 0xd1, 0xe0, 0xe1, 0xf0, 0xf1};
    written_dc = written_code(dc);
    written_ac = written_code(ac);
    tables = tables_of(dc, ac);
  }
};

struct OneBlock {
  bool stored, skipped, has_ac;
  std::int16_t coefficients[64];
};

OneBlock read_blocks(const ScanWriter& writer, const PlainCodes& codes, const EntropyKernels& kernels,
                     std::size_t count = 1) {
  ScanBytes data;
  for (const std::uint8_t byte : writer.bytes())
    if (data.empty() || byte != 0 || data.back() != 0xff) data.push_back(byte);
  data.resize(data.size() + kReadAhead);
  std::vector<std::int16_t> groups(4 * kGroupValues);
  std::uint8_t has_ac[4] = {};
  const BlockPlan plan{&codes.tables->dc, &codes.tables->ac, 0, groups.data(), has_ac, 1, 0};
  BitState storing{.next = data.data()}, skipping = storing;
  std::int32_t prediction = 0, skipped_prediction = 0;
  OneBlock result{};
  result.stored = kernels.store_mcus(storing, &prediction, &plan, 1, 0, count);
  result.skipped = kernels.skip_mcus(skipping, &skipped_prediction, &plan, 1, count);
  result.has_ac = has_ac[0] != 0;
  EXPECT_EQ(prediction, skipped_prediction);
  EXPECT_EQ(bits_used(storing, data.data()), bits_used(skipping, data.data()));
  for (std::size_t i = 0; i < 64; ++i) result.coefficients[i] = groups[i / 8 * kGroupStride + i % 8];
  return result;
}

// A DC coefficient reached by differences.
bool takes_dc(std::initializer_list<std::int32_t> differences, const EntropyKernels& kernels) {
  const PlainCodes codes;
  ScanWriter writer;
  for (const std::int32_t difference : differences) {
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(std::abs(difference))));
    writer.put_symbol(codes.written_dc, bits);
    writer.put_value(difference, bits);
    writer.put_symbol(codes.written_ac, 0);
  }
  writer.put_marker(0xd9);
  const OneBlock read = read_blocks(writer, codes, kernels, differences.size());
  EXPECT_EQ(read.stored, read.skipped);
  EXPECT_FALSE(read.has_ac);
  return read.stored;
}

TEST_P(EntropyKernelsTest, TakeDcCoefficientsUpToTheirRange) {
  EXPECT_TRUE(takes_dc({0}, kernels()));
  EXPECT_TRUE(takes_dc({32767}, kernels()));
  EXPECT_TRUE(takes_dc({-32767}, kernels()));
  EXPECT_TRUE(takes_dc({32767, -32767, -32767}, kernels()));
  EXPECT_FALSE(takes_dc({32767, 1}, kernels()));
  EXPECT_FALSE(takes_dc({-32767, -1}, kernels()));
  EXPECT_FALSE(takes_dc({32767, 1, -1}, kernels())) << "left it and came back";
  EXPECT_FALSE(takes_dc({32767, 32767, 32767}, kernels()));
}

// A block of these AC symbols, whose values are all 1, up to its end.
OneBlock read_symbols(std::initializer_list<unsigned> symbols, const EntropyKernels& kernels) {
  const PlainCodes codes;
  ScanWriter writer;
  writer.put_symbol(codes.written_dc, 0);
  for (const unsigned symbol : symbols) {
    writer.put_symbol(codes.written_ac, symbol);
    if (symbol % 16 != 0) writer.put_value(1 << (symbol % 16 - 1), symbol % 16);
  }
  writer.put_marker(0xd9);
  const OneBlock read = read_blocks(writer, codes, kernels);
  EXPECT_EQ(read.stored, read.skipped);
  return read;
}

TEST_P(EntropyKernelsTest, RefuseRunsThatLeaveTheBlock) {
  EXPECT_TRUE(read_symbols({0xf0, 0xf0, 0xf0, 0xe1}, kernels()).stored) << "to place 63";
  EXPECT_EQ(read_symbols({0xf0, 0xf0, 0xf0, 0xe1}, kernels()).coefficients[63], 1);
  EXPECT_FALSE(read_symbols({0xf0, 0xf0, 0xf0, 0xf1}, kernels()).stored) << "to place 64";
  EXPECT_TRUE(read_symbols({0xe1, 0xf0, 0xf0, 0xf0}, kernels()).stored) << "zeros to place 63";
  EXPECT_FALSE(read_symbols({0xf1, 0xf0, 0xf0, 0xf0}, kernels()).stored) << "zeros to place 64";
  EXPECT_TRUE(read_symbols({0xf0, 0xf0, 0xf0, 0xd1, 0}, kernels()).stored) << "to place 62";
  EXPECT_TRUE(read_symbols({0xf0, 0xf0, 0xf0, 0xd1, 0x01}, kernels()).stored)
      << "to place 63 by a look-up's second symbol";
  EXPECT_FALSE(read_symbols({0xf0, 0xf0, 0xf0, 0xd1, 0x11}, kernels()).stored)
      << "to place 64 by a look-up's second symbol";
}

TEST_P(EntropyKernelsTest, RefuseWhatIsNoCode) {
  const PlainCodes codes;
  ScanWriter no_dc, no_ac;
  no_dc.put(0xffff, 16);
  no_dc.put_symbol(codes.written_ac, 0);
  no_ac.put_symbol(codes.written_dc, 0);
  no_ac.put(0xffff, 16);
  for (const ScanWriter* writer : {&no_dc, &no_ac}) {
    const OneBlock read = read_blocks(*writer, codes, kernels());
    EXPECT_FALSE(read.stored);
    EXPECT_FALSE(read.skipped);
  }
}

// As in libjpeg.
TEST_P(EntropyKernelsTest, EndABlockWithAnySymbolWithoutAValueButZrl) {
  for (const unsigned symbol : {0x00U, 0x10U, 0x70U, 0xe0U}) {
    const OneBlock read = read_symbols({0x01, symbol}, kernels());
    EXPECT_TRUE(read.stored);
    EXPECT_EQ(read.coefficients[1], 1);
    EXPECT_TRUE(read.has_ac);
    EXPECT_FALSE(read_symbols({symbol}, kernels()).has_ac);
  }
}

}  // namespace
}  // namespace penstock::image
