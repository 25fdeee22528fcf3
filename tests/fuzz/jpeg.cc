#include <penstock/image.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace penstock::fuzz {
namespace {

constexpr std::int64_t kMostJpegPixels = 256 * 256;  // keeps an execution below some milliseconds

// The input, taken apart. Bits of the first byte: 0-1 instruction set, 2 truncated, 3 whether a window is wanted; the
// next four tell which one.
struct JpegCase {
  image::DecodeOptions options;
  bool is_window = false;
  unsigned char window[4] = {};
  std::span<const std::byte> file;
};

JpegCase jpeg_case_of(std::string_view bytes) {
  JpegCase made;
  const auto byte = [&bytes](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  const std::vector<image::Simd> all = image::supported_simd();
  made.options.simd = all[(byte(0) & 3) % all.size()];
  made.options.truncated = (byte(0) & 4) != 0 ? image::Truncated::accept : image::Truncated::reject;
  made.options.max_pixels = kMostJpegPixels;
  made.is_window = (byte(0) & 8) != 0;
  for (std::size_t i = 0; i < 4; ++i) made.window[i] = static_cast<unsigned char>(byte(i + 1));
  bytes.remove_prefix(std::min<std::size_t>(5, bytes.size()));
  made.file = std::as_bytes(std::span(bytes));
  return made;
}

// A window of any image, by shares of 256.
image::Window window_of(const JpegCase& made, image::Size image) {
  if (!made.is_window) return {0, 0, image.height, image.width};
  const std::int64_t y = made.window[0] * image.height / 256, x = made.window[1] * image.width / 256;
  return {y, x, 1 + made.window[2] * (image.height - y - 1) / 255, 1 + made.window[3] * (image.width - x - 1) / 255};
}

// All that a caller can see.
struct Outcome {
  Tensor pixels;
  std::string error;
  image::DecodeReport report;
};

Outcome outcome_of(const JpegCase& made, image::Decoder decoder) {
  image::DecodeOptions options = made.options;
  options.decoder = decoder;
  Outcome outcome;
  const auto choose = [&made](image::Size image) { return window_of(made, image); };
  succeeds([&] {
    try {
      ByteBuffer buffer;
      outcome.pixels = image::copy_of(image::decode_jpeg(made.file, choose, buffer, options, &outcome.report).pixels);
    } catch (const Error& error) {
      outcome.error = error.what();
      throw;
    }
  });
  return outcome;
}

bool same_pixels(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

// How many inputs are decoded without a warning, and how many of them by our own decoder; told when the process ends.
struct Tally {
  long valid = 0, taken = 0;
  ~Tally() {
    if (valid > 0) std::fprintf(stderr, "own decoder: took %ld of %ld valid inputs\n", taken, valid);
  }
};

}  // namespace

void jpeg(std::string_view bytes) {
  static Tally tally;
  const JpegCase made = jpeg_case_of(bytes);
  const Outcome expected = outcome_of(made, image::Decoder::libjpeg),
                found = outcome_of(made, image::Decoder::automatic);
  require(found.error == expected.error, "errors do not depend on the decoder");
  require(same_pixels(found.pixels, expected.pixels), "pixels do not depend on the decoder");
  require(found.report.warnings == expected.report.warnings, "warnings do not depend on the decoder");
  require(found.report.first_warning == expected.report.first_warning, "their text does not either");
  require(found.report.truncated == expected.report.truncated, "nor does what is truncated");
  require(!found.report.own || expected.report.warnings == 0, "our own decoder takes nothing that libjpeg warns of");
  if (expected.error.empty() && expected.report.warnings == 0) {
    ++tally.valid;
    tally.taken += found.report.own ? 1 : 0;
  }
}

}  // namespace penstock::fuzz
