// JPEG files written bit by bit from coefficients and codes of any kind, which libjpeg's own writer does not make
// (ITU-T T.81, annexes B, C and F.1.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "ops/image/huffman.h"
#include "ops/image/jpeg_markers.h"

namespace penstock::testing {

// 0 .. below - 1.
inline unsigned drawn(std::minstd_rand& random, std::size_t below) {
  return static_cast<unsigned>((random() >> 8U) % below);
}

using Block = std::array<std::int16_t, 64>;  // natural order

// As annex C tells it: the bits of each symbol's code.
struct WrittenCode {
  std::array<std::uint32_t, 256> code{};
  std::array<unsigned, 256> length{};  // 0: it has none
};
WrittenCode written_code(const image::HuffmanCode& code);

// A code of these symbols in a drawn order; `depth` of 0 to 100: how much its lengths differ.
image::HuffmanCode drawn_code(std::vector<std::uint8_t> symbols, unsigned depth, std::minstd_rand& random);

// All DC symbols of up to `bits` bits, all AC symbols of values of up to `bits` bits with ZRL and end of block.
std::vector<std::uint8_t> dc_symbols(unsigned bits);
std::vector<std::uint8_t> ac_symbols(unsigned bits);

// Entropy-coded data, stuffed.
class ScanWriter {
 public:
  void put(std::uint32_t bits, unsigned count);
  void put_symbol(const WrittenCode& code, unsigned symbol);
  void put_value(std::int32_t value, unsigned bits);
  void put_block(const Block& block, std::int32_t& prediction, const WrittenCode& dc, const WrittenCode& ac);
  void put_marker(unsigned marker);  // after ones up to the byte's end

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint32_t bits_ = 0;
  unsigned count_ = 0;
};

// SOI up to the scan's header.
std::vector<std::uint8_t> header_bytes(const image::JpegHeaders& headers);

std::span<const std::byte> as_file(const std::vector<std::uint8_t>& bytes);

}  // namespace penstock::testing
