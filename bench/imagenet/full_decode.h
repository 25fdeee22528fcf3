// The unit of all ratios, `full decode`: JPEG in memory -> interleaved RGB, accurate transform, fancy upsampling,
// libjpeg API, one decompressor and one output buffer reused, one thread (images.md of the project's design). Nothing
// of penstock is in it.
//
//   FullDecode unit;
//   if (unit.decode(bytes)) use(unit.pixels(), unit.width(), unit.height());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace penstock::bench {

// Not thread-safe: one object for each thread.
class FullDecode {
 public:
  FullDecode();
  ~FullDecode();
  FullDecode(const FullDecode&) = delete;
  FullDecode& operator=(const FullDecode&) = delete;

  // Whether the file could be decoded; what libjpeg repairs counts as decoded.
  bool decode(std::span<const std::byte> file) noexcept;

  // Of the last picture: width() * height() * 3 bytes; for CMYK files * 4, as they are in the file. The buffer may be
  // longer.
  const std::uint8_t* pixels() const noexcept { return pixels_.data(); }

  // Hands that buffer over; the next picture gets a new one.
  std::vector<std::uint8_t> take_pixels() noexcept { return std::exchange(pixels_, {}); }
  std::size_t width() const noexcept;
  std::size_t height() const noexcept;

 private:
  struct Decompressor;  // has libjpeg's types
  bool read_rows(std::span<const std::byte> file);

  std::unique_ptr<Decompressor> decompressor_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t*> rows_;
};

}  // namespace penstock::bench
