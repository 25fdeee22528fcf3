#include "tests/ops/image/scan_writer.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace penstock::testing {
namespace {

using image::HuffmanCode;
using image::JpegComponent;
using image::JpegHeaders;

// Figure A.6, drawn line by line.
constexpr std::array<unsigned, 64> kZigzag{0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42,
                                           3,  8,  12, 17, 25, 30, 41, 43, 9,  11, 18, 24, 31, 40, 44, 53,
                                           10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38, 46, 51, 55, 60,
                                           21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};

Block in_zigzag_order(const Block& block) {
  Block ordered{};
  for (std::size_t i = 0; i < 64; ++i) ordered[kZigzag[i]] = block[i];
  return ordered;
}

unsigned bits_of(std::int32_t value) {
  return static_cast<unsigned>(std::bit_width(static_cast<std::uint32_t>(std::abs(value))));
}

std::uint8_t byte_of(std::int64_t value) { return static_cast<std::uint8_t>(value); }

void append(std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_segment(std::vector<std::uint8_t>& to, unsigned marker, const std::vector<std::uint8_t>& segment) {
  append(to, {0xff, byte_of(marker), byte_of(static_cast<std::int64_t>((segment.size() + 2) >> 8U)),
              byte_of(static_cast<std::int64_t>(segment.size() + 2))});
  append(to, segment);
}

std::vector<std::uint8_t> code_segment(const HuffmanCode& code, unsigned kind) {
  std::vector<std::uint8_t> segment{byte_of(kind)};
  segment.insert(segment.end(), code.counts.begin() + 1, code.counts.end());
  std::size_t symbols = 0;
  for (const std::uint8_t count : code.counts) symbols += count;
  segment.insert(segment.end(), code.symbols.begin(), code.symbols.begin() + static_cast<std::ptrdiff_t>(symbols));
  return segment;
}

std::vector<std::uint8_t> quantiser_segment(const image::QuantiserSteps& steps, unsigned number) {
  std::vector<std::uint8_t> segment(129);
  segment[0] = byte_of(16 + number);
  for (std::size_t i = 0; i < 64; ++i) {
    segment[1 + 2 * kZigzag[i]] = byte_of(steps[i] >> 8U);
    segment[2 + 2 * kZigzag[i]] = byte_of(steps[i]);
  }
  return segment;
}

std::vector<std::uint8_t> frame_segment(const JpegHeaders& headers) {
  std::vector<std::uint8_t> segment{8,
                                    byte_of(headers.height >> 8),
                                    byte_of(headers.height),
                                    byte_of(headers.width >> 8),
                                    byte_of(headers.width),
                                    byte_of(headers.components)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(headers.components); ++i) {
    const JpegComponent& component = headers.component[i];
    append(segment, {component.id, byte_of(component.across * 16 + component.down), component.quantiser});
  }
  return segment;
}

std::vector<std::uint8_t> scan_segment(const JpegHeaders& headers) {
  std::vector<std::uint8_t> segment{byte_of(headers.components)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(headers.components); ++i) {
    const JpegComponent& component = headers.component[i];
    append(segment, {component.id, byte_of(component.dc * 16 + component.ac)});
  }
  append(segment, {0, 63, 0});
  return segment;
}

}  // namespace

WrittenCode written_code(const HuffmanCode& code) {
  WrittenCode written;
  std::uint32_t next = 0;
  std::size_t place = 0;
  for (unsigned length = 1; length <= 16; ++length, next *= 2)
    for (unsigned i = 0; i < code.counts[length]; ++i, ++next, ++place) {
      written.code[code.symbols[place]] = next;
      written.length[code.symbols[place]] = length;
    }
  return written;
}

HuffmanCode drawn_code(std::vector<std::uint8_t> symbols, unsigned depth, std::minstd_rand& random) {
  // Leaves of a tree, one of which is split until there is one more than symbols: the code of ones only is not allowed.
  std::vector<unsigned> leaves{0};
  while (leaves.size() < symbols.size() + 1) {
    const bool splits_deepest = drawn(random, 100) < depth;
    auto at = leaves.begin() + static_cast<std::ptrdiff_t>(drawn(random, leaves.size()));
    if (splits_deepest) at = std::max_element(leaves.begin(), leaves.end());
    if (*at == 16) at = std::min_element(leaves.begin(), leaves.end());
    leaves.push_back(++*at);
  }
  leaves.erase(std::max_element(leaves.begin(), leaves.end()));
  HuffmanCode code;
  for (const unsigned length : leaves) ++code.counts[length];
  std::shuffle(symbols.begin(), symbols.end(), random);
  std::copy(symbols.begin(), symbols.end(), code.symbols.begin());
  code.is_there = true;
  return code;
}

std::vector<std::uint8_t> dc_symbols(unsigned bits) {
  std::vector<std::uint8_t> symbols;
  for (unsigned i = 0; i <= bits; ++i) symbols.push_back(byte_of(i));
  return symbols;
}

std::vector<std::uint8_t> ac_symbols(unsigned bits) {
  std::vector<std::uint8_t> symbols{0, 0xf0};
  for (unsigned run = 0; run < 16; ++run)
    for (unsigned i = 1; i <= bits; ++i) symbols.push_back(byte_of(run * 16 + i));
  return symbols;
}

void ScanWriter::put(std::uint32_t bits, unsigned count) {
  for (; count > 0; --count) {
    bits_ = bits_ * 2 + (bits >> (count - 1) & 1U);
    if (++count_ < 8) continue;
    bytes_.push_back(byte_of(bits_));
    if (bytes_.back() == 0xff) bytes_.push_back(0);
    bits_ = count_ = 0;
  }
}

void ScanWriter::put_symbol(const WrittenCode& code, unsigned symbol) {
  if (code.length.at(symbol) == 0) throw std::runtime_error("the code has no symbol " + std::to_string(symbol));
  put(code.code[symbol], code.length[symbol]);
}

void ScanWriter::put_value(std::int32_t value, unsigned bits) {
  put(static_cast<std::uint32_t>(value < 0 ? value + (1 << bits) - 1 : value), bits);
}

void ScanWriter::put_block(const Block& block, std::int32_t& prediction, const WrittenCode& dc, const WrittenCode& ac) {
  const Block values = in_zigzag_order(block);
  const std::int32_t difference = values[0] - prediction;
  prediction = values[0];
  put_symbol(dc, bits_of(difference));
  put_value(difference, bits_of(difference));
  unsigned run = 0;
  for (std::size_t place = 1; place < 64; ++place) {
    if (values[place] == 0) {
      ++run;
      continue;
    }
    for (; run > 15; run -= 16) put_symbol(ac, 0xf0);
    put_symbol(ac, run * 16 + bits_of(values[place]));
    put_value(values[place], bits_of(values[place]));
    run = 0;
  }
  if (run > 0) put_symbol(ac, 0);
}

void ScanWriter::put_marker(unsigned marker) {
  while (count_ != 0) put(1, 1);
  bytes_.push_back(0xff);
  bytes_.push_back(byte_of(marker));
}

std::vector<std::uint8_t> header_bytes(const JpegHeaders& headers) {
  std::vector<std::uint8_t> bytes{0xff, 0xd8};
  for (unsigned i = 0; i < 4; ++i)
    if (headers.quantisers[i][0] != 0) append_segment(bytes, 0xdb, quantiser_segment(headers.quantisers[i], i));
  append_segment(bytes, 0xc1, frame_segment(headers));
  for (unsigned i = 0; i < 4; ++i) {
    if (headers.dc[i].is_there) append_segment(bytes, 0xc4, code_segment(headers.dc[i], i));
    if (headers.ac[i].is_there) append_segment(bytes, 0xc4, code_segment(headers.ac[i], 16 + i));
  }
  if (headers.restart_interval > 0)
    append_segment(bytes, 0xdd, {byte_of(headers.restart_interval >> 8), byte_of(headers.restart_interval)});
  append_segment(bytes, 0xda, scan_segment(headers));
  return bytes;
}

std::span<const std::byte> as_file(const std::vector<std::uint8_t>& bytes) { return std::as_bytes(std::span(bytes)); }

}  // namespace penstock::testing
