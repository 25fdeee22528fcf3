#include "tests/support/jpeg_coefficients.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace penstock::testing {
namespace {

// Natural place of each coefficient in zigzag order (figure A.6), walked along the diagonals.
std::array<std::size_t, 64> zigzag() {
  std::array<std::size_t, 64> order{};
  std::size_t k = 0;
  for (int diagonal = 0; diagonal < 15; ++diagonal)
    for (int step = 0; step <= diagonal; ++step) {
      const int y = diagonal % 2 == 0 ? diagonal - step : step;
      const int x = diagonal - y;
      if (x < 8 && y < 8) order[k++] = static_cast<std::size_t>(y * 8 + x);
    }
  return order;
}

// Symbols of AC coefficients (F.1.2.2) in the order of their codes, all of 8 bits: end of block, 16 zeros, run and
// size.
int ac_code(int run, int size) { return size == 0 ? (run == 0 ? 0 : 1) : 2 + run * 15 + size - 1; }
constexpr int kAcCodes = 2 + 16 * 15;
constexpr int kDcCodes = 16;  // sizes 0 to 15, all of 5 bits

class Writer {
 public:
  void bytes(std::initializer_list<int> values) {
    for (const int value : values) file_.push_back(static_cast<std::byte>(value));
  }
  void word(int value) { bytes({value >> 8 & 0xff, value & 0xff}); }

  void bits(int value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      bits_ = bits_ << 1 | (value >> i & 1);
      if (++count_ == 8) flush();
    }
  }
  // Ones up to the end of the byte (F.1.2.3).
  void fill_up() {
    while (count_ != 0) bits(1, 1);
  }
  std::vector<std::byte> take() { return std::move(file_); }

 private:
  void flush() {
    bytes({bits_});
    if (bits_ == 0xff) bytes({0});
    bits_ = count_ = 0;
  }

  std::vector<std::byte> file_;
  int bits_ = 0, count_ = 0;
};

int size_of(int value) { return static_cast<int>(std::bit_width(static_cast<unsigned>(std::abs(value)))); }

// Negative values as their ones' complement (F.1.2.1).
void write_value(Writer& writer, int value, int size) {
  writer.bits(value < 0 ? value + (1 << size) - 1 : value, size);
}

int checked_size(int value) {
  if (size_of(value) > 15) throw std::invalid_argument("a coefficient or difference needs more than 15 bits");
  return size_of(value);
}

void write_block(Writer& writer, const CoefficientBlock& block, int& predictor) {
  static const std::array<std::size_t, 64> order = zigzag();
  const int difference = block[0] - predictor;
  predictor = block[0];
  writer.bits(checked_size(difference), 5);
  write_value(writer, difference, size_of(difference));
  int run = 0;
  for (std::size_t k = 1; k < 64; ++k) {
    const int value = block[order[k]];
    if (value == 0) {
      ++run;
      continue;
    }
    for (; run > 15; run -= 16) writer.bits(ac_code(15, 0), 8);
    writer.bits(ac_code(run, checked_size(value)), 8);
    write_value(writer, value, size_of(value));
    run = 0;
  }
  if (run > 0) writer.bits(ac_code(0, 0), 8);
}

int largest(const JpegCoefficients& picture, int CoefficientPlane::*factor) {
  int most = 1;
  for (const CoefficientPlane& plane : picture.planes) most = std::max(most, plane.*factor);
  return most;
}

int mcus_across(const JpegCoefficients& picture) {
  const int size = 8 * largest(picture, &CoefficientPlane::across);
  return (picture.width + size - 1) / size;
}

int mcus_down(const JpegCoefficients& picture) {
  const int size = 8 * largest(picture, &CoefficientPlane::down);
  return (picture.height + size - 1) / size;
}

void write_quantiser(Writer& writer, const CoefficientPlane& plane, int number) {
  const bool is_wide = *std::max_element(plane.steps.begin(), plane.steps.end()) > 255;
  writer.bytes({0xff, 0xdb});
  writer.word(3 + 64 * (is_wide ? 2 : 1));
  writer.bytes({(is_wide ? 0x10 : 0) | number});
  for (const std::size_t place : zigzag()) {
    if (is_wide) writer.bytes({plane.steps[place] >> 8});
    writer.bytes({plane.steps[place] & 0xff});
  }
}

// SOF1, since baseline has neither steps of 16 bits nor sizes above 11.
void write_frame(Writer& writer, const JpegCoefficients& picture) {
  const int count = static_cast<int>(picture.planes.size());
  writer.bytes({0xff, 0xc1});
  writer.word(8 + 3 * count);
  writer.bytes({8});
  writer.word(picture.height);
  writer.word(picture.width);
  writer.bytes({count});
  for (int i = 0; i < count; ++i) {
    const CoefficientPlane& plane = picture.planes[static_cast<std::size_t>(i)];
    writer.bytes({i + 1, plane.across << 4 | plane.down, i});
  }
}

// `count` codes of `length` bits.
void write_table(Writer& writer, int id, int length, int count) {
  writer.bytes({0xff, 0xc4});
  writer.word(3 + 16 + count);
  writer.bytes({id});
  for (int i = 1; i <= 16; ++i) writer.bytes({i == length ? count : 0});
}

void write_tables(Writer& writer) {
  write_table(writer, 0x00, 5, kDcCodes);
  for (int size = 0; size < kDcCodes; ++size) writer.bytes({size});
  write_table(writer, 0x10, 8, kAcCodes);
  writer.bytes({0x00, 0xf0});
  for (int run = 0; run < 16; ++run)
    for (int size = 1; size < 16; ++size) writer.bytes({run << 4 | size});
}

void write_scan_header(Writer& writer, std::size_t planes) {
  const int count = static_cast<int>(planes);
  writer.bytes({0xff, 0xda});
  writer.word(6 + 2 * count);
  writer.bytes({count});
  for (int i = 0; i < count; ++i) writer.bytes({i + 1, 0x00});
  writer.bytes({0, 63, 0});
}

void write_mcu(Writer& writer, const JpegCoefficients& picture, int mcu, std::vector<int>& predictors) {
  const int mcu_y = mcu / mcus_across(picture), mcu_x = mcu % mcus_across(picture);
  for (std::size_t i = 0; i < picture.planes.size(); ++i) {
    const CoefficientPlane& plane = picture.planes[i];
    for (int y = mcu_y * plane.down; y < (mcu_y + 1) * plane.down; ++y)
      for (int x = mcu_x * plane.across; x < (mcu_x + 1) * plane.across; ++x)
        write_block(writer, plane.blocks[static_cast<std::size_t>(y * blocks_across(picture, i) + x)], predictors[i]);
  }
}

void write_scan(Writer& writer, const JpegCoefficients& picture) {
  const int mcus = mcus_across(picture) * mcus_down(picture);
  std::vector<int> predictors(picture.planes.size());
  for (int mcu = 0; mcu < mcus; ++mcu) {
    if (picture.restart_interval > 0 && mcu > 0 && mcu % picture.restart_interval == 0) {
      writer.fill_up();
      writer.bytes({0xff, 0xd0 + (mcu / picture.restart_interval - 1) % 8});
      predictors.assign(predictors.size(), 0);
    }
    write_mcu(writer, picture, mcu, predictors);
  }
  writer.fill_up();
}

void check(const JpegCoefficients& picture) {
  for (std::size_t i = 0; i < picture.planes.size(); ++i) {
    const CoefficientPlane& plane = picture.planes[i];
    if (picture.planes.size() == 1 && (plane.across != 1 || plane.down != 1))
      throw std::invalid_argument("a picture of one plane has sampling factors 1 and 1");
    if (plane.blocks.size() != static_cast<std::size_t>(blocks_across(picture, i) * blocks_down(picture, i)))
      throw std::invalid_argument("plane " + std::to_string(i) + " has " + std::to_string(plane.blocks.size()) +
                                  " blocks, not blocks_across() * blocks_down()");
  }
}

}  // namespace

int blocks_across(const JpegCoefficients& picture, std::size_t plane) {
  return mcus_across(picture) * picture.planes.at(plane).across;
}

int blocks_down(const JpegCoefficients& picture, std::size_t plane) {
  return mcus_down(picture) * picture.planes.at(plane).down;
}

std::vector<std::byte> encode(const JpegCoefficients& picture) {
  check(picture);
  Writer writer;
  writer.bytes({0xff, 0xd8});
  // JFIF, so that three planes are YCbCr whatever their numbers.
  writer.bytes({0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0});
  for (std::size_t i = 0; i < picture.planes.size(); ++i)
    write_quantiser(writer, picture.planes[i], static_cast<int>(i));
  write_frame(writer, picture);
  write_tables(writer);
  if (picture.restart_interval > 0) {
    writer.bytes({0xff, 0xdd, 0, 4});
    writer.word(picture.restart_interval);
  }
  write_scan_header(writer, picture.planes.size());
  write_scan(writer, picture);
  writer.bytes({0xff, 0xd9});
  return writer.take();
}

}  // namespace penstock::testing
