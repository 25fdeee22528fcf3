// Decoding JPEG files to RGB bytes, with a decoder of our own or with libjpeg-turbo.
//
// Pixels equal those of Pillow, OpenCV and torchvision (dct = islow, the default) or of
// TensorFlow's decode_jpeg (dct = ifast) bit for bit. Baseline, progressive and arithmetic files of
// 8 bits, in grey (three equal channels), YCbCr, RGB, CMYK and YCCK. EXIF orientation is ignored,
// as in those libraries.
//
// Our own decoder takes baseline and extended sequential files of the usual kinds; it needs half of libjpeg-turbo's
// time, and gives its pixels, byte for byte. Whatever it does not take, and whatever is unusual or damaged,
// libjpeg-turbo decodes from the beginning, so that pixels, warnings and error texts never depend on
// DecodeOptions::decoder (Decoder::own alone refuses instead).
//
// All functions may be called from any number of threads; each thread keeps one decoder of each kind for
// its life. One ImageNet photo (500 x 375) costs about 0.5 ms, 1 ms with libjpeg-turbo; its header alone 1 us.
//
//   ps::Tensor file = ps::read_file(path);
//   ps::Tensor image = ps::image::decode_jpeg(ps::image::bytes_of(file), {.name = path});
//   image.shape()  ->  [375, 500, 3]
//
// Where only a part of the picture is needed, ask for that: the middle half of its area takes 0.66 of the time, a
// quarter 0.49, a tenth 0.36 (0.77, 0.61, 0.5 with libjpeg-turbo; `penstock-bench
// --benchmark_filter=DecodeJpegWindow`). Rows above the window cost two thirds of decoding them, as their bits must be
// read. Of files with several scans (progressive ones) the whole is decoded down to the window's last row.
//
//   thread_local ps::ByteBuffer buffer;
//   ps::image::ImagePart part = ps::image::decode_jpeg(bytes, [](ps::image::Size image) {
//     return ps::image::centre_window(image, {224, 224});
//   }, buffer);
//
// The pixels are those of the whole picture, whatever the file's kind. But damage below the window's last row is not
// seen, unless that is the picture's last row or the file has several scans: what lies there is not decoded (but for
// the few rows of blocks that libjpeg decodes together), only its end is looked for. So a truncated file is refused as
// ever, while one with bad bytes below the window, or with a stretch missing there, gives the window's pixels without a
// warning.
//
// What goes wrong is an Error whose text starts with "cannot decode 'NAME'":
//  invalid_argument    another format (PNG, GIF, BMP, WebP, TIFF), whatever its file's name says; a
//                      window that is empty or leaves the picture; a `simd` that the CPU lacks, whose
//                      text begins with "simd: " instead
//  data_loss           empty, no JPEG at all, damaged beyond decoding, or truncated
//  resource_exhausted  more than max_pixels, or more than 500 progressive scans
//  unimplemented       12 bits a sample, lossless, hierarchical, two components; with Decoder::own all that it does not
//                      take
#pragma once

#include <penstock/image/simd.h>
#include <penstock/image/view.h>
#include <penstock/io.h>
#include <penstock/tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace penstock::image {

// How libjpeg turns frequencies into pixels.
enum class Dct : std::uint8_t {
  islow,  // accurate: what Pillow, OpenCV and torchvision use
  ifast,  // TensorFlow's default: 3 % faster, 70 % of the values differ, by at most 25
};

// What to do with a file whose pixels end early or of which a stretch is missing.
enum class Truncated : std::uint8_t {
  reject,  // Error(data_loss)
  accept,  // keep what is there; the rest is what libjpeg makes of it (mostly grey)
};

// Which decoder makes the pixels.
enum class Decoder : std::uint8_t {
  automatic,  // our own where it takes the file, else libjpeg-turbo
  libjpeg,    // libjpeg-turbo
  own,        // our own: Error(unimplemented) for files that it does not take
};

// Why our own decoder left a file to libjpeg-turbo.
enum class Refusal : std::uint8_t {
  none,          // it did not, or was not asked
  process,       // progressive, arithmetic, lossless or hierarchical, or other than 8 bits a sample
  components,    // neither grey nor YCbCr
  sampling,      // other than 4:4:4, 4:2:2, 4:2:0 and 4:4:0, or so narrow that libjpeg's smooth colour changes
  scans,         // several, or with components in another order
  tables,        // missing or wrong
  marker,        // one that is unknown, wrong or unusual in the headers
  options,       // Dct::ifast, or no fancy upsampling
  data,          // damaged: a bad code, too short or too long, a wrong marker
  coefficients,  // so large that libjpeg-turbo's own versions differ (ops/image/idct_range.h)
};
inline constexpr std::size_t refusal_count = 10;  // none included

std::string_view to_string(Refusal refusal) noexcept;

struct DecodeOptions {
  Dct dct = Dct::islow;  // the inverse transform

  // Smooth interpolation of subsampled colour. Without it 4:2:0 files decode 7 % faster, and values
  // differ by up to 69.
  bool fancy_upsampling = true;

  Truncated truncated = Truncated::reject;  // what to do with a file that ends too early

  // A header that asks for more pixels than this is refused before memory is taken. Default 2^28, 768 MiB of RGB; while
  // a progressive file is decoded, libjpeg takes up to 6 bytes more for each pixel.
  std::int64_t max_pixels = std::int64_t{1} << 28;

  Decoder decoder = Decoder::automatic;  // pixels do not depend on it
  Simd simd = Simd::automatic;           // instructions of our own decoder; nor on this

  // Where the bytes came from, for error texts only.
  std::string_view name = {};
};

// What the header says.
struct JpegHeader {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int components = 0;  // in the file: 1 grey, 3 colour, 4 CMYK
};

// How a file was decoded. Warnings are signs of damage that libjpeg met and repaired: bad codes, missing or surplus
// bytes. Of a window: as far as it read.
struct DecodeReport {
  std::int64_t warnings = 0;        // how many
  bool truncated = false;           // the file ended too early
  std::string first_warning;        // libjpeg's words; empty without warnings
  bool own = false;                 // whether our own decoder made the pixels
  Refusal refusal = Refusal::none;  // and if it was asked and did not, why
};

// The bytes of a tensor, as read_file() gives them.
inline std::span<const std::byte> bytes_of(const Tensor& file) { return {file.data(), file.bytes()}; }

// Size and components without decoding. Only max_pixels and name of the options count.
JpegHeader read_jpeg_header(std::span<const std::byte> file, const DecodeOptions& options = {});

// The picture as u8 [height, width, 3]. `report`, where given, is overwritten, also when the call throws.
Tensor decode_jpeg(std::span<const std::byte> file, const DecodeOptions& options = {}, DecodeReport* report = nullptr);

// The same into memory that the caller keeps; the view holds until the buffer's next use. 64 bytes in front of the
// first pixel and 128 behind the last one may be read too, so that vector loads may run over the ends; their values are
// arbitrary.
ImageView decode_jpeg(std::span<const std::byte> file, ByteBuffer& buffer, const DecodeOptions& options = {},
                      DecodeReport* report = nullptr);

// Which pixels are wanted, once the header has told the image's size. What it throws ends the decoding. It must not
// decode anything itself.
using ChooseWindow = std::function<Window(Size image)>;

// A window of the picture, into memory as above. The pixels' stride may be larger than the window's width.
ImagePart decode_jpeg(std::span<const std::byte> file, const ChooseWindow& choose_window, ByteBuffer& buffer,
                      const DecodeOptions& options = {}, DecodeReport* report = nullptr);
ImagePart decode_jpeg(std::span<const std::byte> file, const Window& window, ByteBuffer& buffer,
                      const DecodeOptions& options = {}, DecodeReport* report = nullptr);

// u8 [window.height, window.width, 3]; takes memory for the decoded rows on each call.
Tensor decode_jpeg(std::span<const std::byte> file, const Window& window, const DecodeOptions& options = {},
                   DecodeReport* report = nullptr);

}  // namespace penstock::image

#pragma GCC visibility pop
