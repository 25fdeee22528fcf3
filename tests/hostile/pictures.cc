#include "tests/hostile/pictures.h"

#include <stdexcept>

namespace penstock::hostile {
namespace {

// Where the first marker of a kind stands: behind SOI, each segment says how long it is.
std::size_t find_marker(const std::string& jpeg, std::string_view codes) {
  std::size_t at = 2;
  while (at + 4 <= jpeg.size()) {
    if (codes.find(jpeg[at + 1]) != std::string_view::npos) return at;
    at += 2U + (static_cast<std::uint8_t>(jpeg[at + 2]) << 8U) + static_cast<std::uint8_t>(jpeg[at + 3]);
  }
  throw std::runtime_error("the test's JPEG lacks a marker");
}

std::size_t frame_header(const std::string& jpeg) { return find_marker(jpeg, "\xc0\xc1\xc2"); }

void put_big_endian(std::string& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<char>(value >> 8U);
  bytes[at + 1] = static_cast<char>(value & 0xffU);
}

}  // namespace

std::string jpeg(std::int64_t height, std::int64_t width, const pictures::EncodeOptions& options) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int c = 0; c < pictures::bytes_per_pixel(options.colour); ++c)
        pixels.push_back(static_cast<std::uint8_t>(40 + 3 * x + 2 * y * (c + 1) + (x * y) % 7));
  const auto file = pictures::encode_jpeg(pixels, height, width, options);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

std::string claiming_size(std::string jpeg, std::uint16_t height, std::uint16_t width) {
  const std::size_t at = frame_header(jpeg);
  put_big_endian(jpeg, at + 5, height);
  put_big_endian(jpeg, at + 7, width);
  return jpeg;
}

std::string claiming_precision(std::string jpeg, std::uint8_t bits) {
  jpeg[frame_header(jpeg) + 4] = static_cast<char>(bits);
  return jpeg;
}

std::string without_codes(std::string jpeg) {
  const std::size_t at = find_marker(jpeg, "\xc4");
  jpeg[at + 4] = '\x7f';  // there are four tables of each class, this is none of them
  return jpeg;
}

std::string with_surplus_bytes(std::string jpeg) { return jpeg.insert(frame_header(jpeg), "surplus"); }

std::string scan_bomb() {
  const std::string file = jpeg(30, 40, {.progressive = true});
  const std::size_t scan = file.find("\xff\xda");
  std::size_t end = scan + 2;
  while (!(file[end] == '\xff' && (file[end + 1] == '\xc4' || file[end + 1] == '\xda'))) ++end;
  std::string bomb = file.substr(0, end);
  for (int i = 0; i < 600; ++i) bomb += file.substr(scan, end - scan);
  return bomb + file.substr(end);
}

std::string png() {
  static constexpr unsigned char bytes[] = {
      0x89, 'P',  'N',  'G',  '\r', '\n', 0x1a, '\n', 0,    0,    0,    0x0d, 'I',  'H',  'D',  'R',  0,
      0,    0,    1,    0,    0,    0,    1,    8,    0,    0,    0,    0,    0x3a, 0x7e, 0x9b, 0x55, 0,
      0,    0,    0x0a, 'I',  'D',  'A',  'T',  0x78, 0x9c, 0x63, 0x60, 0,    0,    0,    2,    0,    1,
      0x48, 0xaf, 0xa4, 0x71, 0,    0,    0,    0,    'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};
  return {reinterpret_cast<const char*>(bytes), sizeof bytes};
}

std::string annotation(const std::string& objects, const std::string& size) {
  return "<annotation>" + size + objects + "</annotation>";
}

std::string object(const std::string& xmin, const std::string& ymin, const std::string& xmax, const std::string& ymax) {
  return "<object><name>thing</name><bndbox><xmin>" + xmin + "</xmin><ymin>" + ymin + "</ymin><xmax>" + xmax +
         "</xmax><ymax>" + ymax + "</ymax></bndbox></object>";
}

std::string entity_bomb() {
  std::string bomb = "<!DOCTYPE annotation [<!ENTITY e0 \"lol\">";
  for (int i = 1; i < 10; ++i) {
    bomb += "<!ENTITY e" + std::to_string(i) + " \"";
    for (int j = 0; j < 10; ++j) bomb += "&e" + std::to_string(i - 1) + ";";
    bomb += "\">";
  }
  return bomb + "]>" + annotation("<name>&e9;</name>");
}

std::string nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += "<a>";
  return annotation(text);
}

}  // namespace penstock::hostile
