#include <penstock/image/jpeg.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "ops/image/check.h"
#include "ops/image/jpeg_decompressor.h"
#include "ops/image/own_jpeg.h"
#include "ops/image/simd.h"

namespace penstock::image {
namespace {

using namespace std::string_view_literals;

JpegDecompressor& decompressor_of_thread() {
  thread_local JpegDecompressor decompressor;
  return decompressor;
}

OwnJpeg& own_of_thread() {
  thread_local const auto own = std::make_unique<OwnJpeg>();
  return *own;
}

Error decode_error(ErrorCode code, std::string_view name, const std::string& reason) {
  const std::string what = name.empty() ? "a JPEG" : in_quotes(name);
  return Error(code, "cannot decode " + what + ": " + reason);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Format {
  std::string_view name, beginning;
};

// The other formats that go by the name .JPEG in data sets, and WebP.
constexpr Format kOtherFormats[] = {{"PNG", "\x89PNG\r\n\x1a\n"sv},
                                    {"GIF", "GIF87a"sv},
                                    {"GIF", "GIF89a"sv},
                                    {"BMP", "BM"sv},
                                    {"TIFF", "II*\0"sv},
                                    {"TIFF", "MM\0*"sv}};

bool is_webp(std::string_view file) { return file.starts_with("RIFF"sv) && file.substr(0, 12).ends_with("WEBP"sv); }

// Empty if the bytes are none of them.
std::string_view other_format(std::string_view file) {
  for (const Format& format : kOtherFormats)
    if (file.starts_with(format.beginning)) return format.name;
  return is_webp(file) ? "WebP" : "";
}

void check_magic(std::span<const std::byte> file, std::string_view name) {
  const std::string_view text = text_of(file);
  if (text.starts_with("\xff\xd8"sv)) return;
  if (text.empty())
    throw decode_error(ErrorCode::data_loss, name, "the file is empty; copy it again, or take it off the list");
  if (const std::string_view format = other_format(text); !format.empty())
    throw decode_error(ErrorCode::invalid_argument, name,
                       "this is a " + std::string(format) + " file, whatever its name; convert it to JPEG");
  char first[8] = "";
  std::snprintf(first, sizeof first, "%02x %02x", std::to_integer<unsigned>(file[0]),
                file.size() > 1 ? std::to_integer<unsigned>(file[1]) : 0U);
  throw decode_error(ErrorCode::data_loss, name,
                     "not a JPEG file: it starts with the bytes " + std::string(first) +
                         " instead of ff d8; copy it again, or take it off the list");
}

ErrorCode code_of_libjpeg(int code) {
  switch (code) {
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_ARITH_NOTIMPL: return ErrorCode::unimplemented;
    case JpegDecompressor::too_many_scans:
    case JERR_OUT_OF_MEMORY:
    case JERR_IMAGE_TOO_BIG: return ErrorCode::resource_exhausted;
    default: return ErrorCode::data_loss;
  }
}

std::string precision_text(const jpeg_decompress_struct& info) {
  return "it has " + std::to_string(info.data_precision) + " bits a sample, and only 8 can be decoded; convert it";
}

[[noreturn]] void throw_error_of(const JpegDecompressor& decompressor, std::string_view name) {
  const JpegErrorState& error = decompressor.error();
  std::string reason = error.text;
  if (error.code == JWRN_JPEG_EOF || error.code == JWRN_HIT_MARKER)
    reason = "truncated (" + reason + "); DecodeOptions::truncated = accept keeps what is there";
  else if (code_of_libjpeg(error.code) == ErrorCode::data_loss)
    reason = "damaged (" + reason + "); copy it again, or take it off the list";
  if (error.code == JERR_BAD_PRECISION) reason = precision_text(decompressor.info());
  throw decode_error(code_of_libjpeg(error.code), name, reason);
}

void check_pixels(Size size, const DecodeOptions& options) {
  if (size.width * size.height <= options.max_pixels) return;
  throw decode_error(ErrorCode::resource_exhausted, options.name,
                     "its header asks for " + std::to_string(size.width) + " x " + std::to_string(size.height) +
                         " pixels, the limit is " + std::to_string(options.max_pixels) +
                         " (DecodeOptions::max_pixels, which may be raised)");
}

void check_header(const jpeg_decompress_struct& info, const DecodeOptions& options) {
  check_pixels({info.image_height, info.image_width}, options);
  // libjpeg-turbo 3 reads such headers without complaint.
  if (info.data_precision != 8) throw decode_error(ErrorCode::unimplemented, options.name, precision_text(info));
}

// Drops the image when the scope ends early; harmless after it was read.
struct DropAtEnd {
  JpegDecompressor& decompressor;
  ~DropAtEnd() { decompressor.drop(); }
};

void open(JpegDecompressor& decompressor, std::span<const std::byte> file, const DecodeOptions& options) {
  check_magic(file, options.name);
  if (!decompressor.read_header(file, options)) throw_error_of(decompressor, options.name);
  check_header(decompressor.info(), options);
}

Size size_of(const JpegDecompressor& decompressor) {
  return {decompressor.info().image_height, decompressor.info().image_width};
}

Window whole_of(Size image) { return {0, 0, image.height, image.width}; }

// What choose_window() wants of the open file.
template <class Choose> Window chosen(Size whole, const Choose& choose_window, std::string_view name) {
  const Window window = choose_window(whole);
  if (!is_inside(window, whole)) throw decode_error(ErrorCode::invalid_argument, name, outside_text(window, whole));
  return window;
}

// What is known of a picture on its way from one decoder to the other.
struct Course {
  std::optional<Window> window;  // chosen once, whoever decodes
  Refusal refusal = Refusal::none;
};

// `memory_for(size)` gives the place for the rows, which may be wider than the window. Nothing: our own decoder does
// not take the file; `course` tells why.
template <class Choose, class MemoryFor>
std::optional<ImagePart> decode_own(std::span<const std::byte> file, const DecodeOptions& options, Course& course,
                                    const Choose& choose_window, const MemoryFor& memory_for) {
  OwnJpeg& own = own_of_thread();
  course.refusal = own.read_header(file, options);
  if (course.refusal != Refusal::none) return std::nullopt;
  const Size whole = own.size();
  check_pixels(whole, options);
  course.window = chosen(whole, choose_window, options.name);
  course.refusal = own.start(*course.window);
  if (course.refusal != Refusal::none) return std::nullopt;
  std::uint8_t* const rows = memory_for(Size{course.window->height, own.row_width()});
  const std::int64_t stride = own.row_width() * channels;
  course.refusal = own.read_rows(rows, static_cast<std::size_t>(stride));
  if (course.refusal != Refusal::none) return std::nullopt;
  const ImageView pixels{rows + own.first_column() * channels, course.window->height, course.window->width, stride};
  return ImagePart{pixels, *course.window, whole};
}

template <class Choose, class MemoryFor>
ImagePart decode_with_libjpeg(std::span<const std::byte> file, const DecodeOptions& options, Course& course,
                              DecodeReport& report, const Choose& choose_window, const MemoryFor& memory_for) {
  JpegDecompressor& decompressor = decompressor_of_thread();
  const DropAtEnd guard{decompressor};
  open(decompressor, file, options);
  const Size whole = size_of(decompressor);
  const Window window = course.window ? *course.window : chosen(whole, choose_window, options.name);
  ImageView pixels{nullptr, window.height, window.width, 0};
  bool done = decompressor.start(window);
  if (done) {
    std::uint8_t* rows = memory_for(Size{window.height, decompressor.row_width()});
    pixels.pixels = rows + decompressor.first_column() * channels;
    pixels.stride = decompressor.row_width() * channels;
    done = decompressor.read_rows(rows, static_cast<std::size_t>(pixels.stride));
  }
  const JpegErrorState& state = decompressor.error();
  report.warnings = state.warnings;
  report.truncated = state.truncated;
  report.first_warning = state.first_warning;
  if (!done) throw_error_of(decompressor, options.name);
  return {pixels, window, whole};
}

template <class Choose, class MemoryFor>
ImagePart decode(std::span<const std::byte> file, const DecodeOptions& options, DecodeReport* wanted_report,
                 const Choose& choose_window, const MemoryFor& memory_for) {
  DecodeReport unwanted;
  DecodeReport& report = wanted_report != nullptr ? *wanted_report : unwanted;
  report = {};
  check_magic(file, options.name);
  kernel_index(options.simd);  // whoever decodes, instructions that the CPU lacks are refused
  Course course;
  if (options.decoder != Decoder::libjpeg) {
    if (const auto part = decode_own(file, options, course, choose_window, memory_for)) {
      report.own = true;
      return *part;
    }
    report.refusal = course.refusal;
    if (options.decoder == Decoder::own)
      throw decode_error(ErrorCode::unimplemented, options.name,
                         "penstock's own decoder does not take it (" + std::string(to_string(course.refusal)) +
                             "); DecodeOptions::decoder = automatic leaves such files to libjpeg-turbo");
  }
  return decode_with_libjpeg(file, options, course, report, choose_window, memory_for);
}

// Readable bytes in front of and behind the pixels in a caller's buffer.
constexpr std::size_t bytes_before = 64;
constexpr std::size_t bytes_behind = 128;

std::uint8_t* room_in(ByteBuffer& buffer, Size size) {
  return reinterpret_cast<std::uint8_t*>(buffer.reserve(bytes_before + size.values() + bytes_behind)) + bytes_before;
}

}  // namespace

// Our own reader is quicker; what it finds odd, libjpeg judges.
JpegHeader read_jpeg_header(std::span<const std::byte> file, const DecodeOptions& options) {
  JpegHeaders headers;
  const bool is_usual = read_headers(file, headers) == Refusal::none;
  if (is_usual && headers.width * headers.height <= options.max_pixels)
    return {headers.width, headers.height, headers.components};
  JpegDecompressor& decompressor = decompressor_of_thread();
  const DropAtEnd guard{decompressor};
  open(decompressor, file, options);
  const Size size = size_of(decompressor);
  return {size.width, size.height, decompressor.info().num_components};
}

Tensor decode_jpeg(std::span<const std::byte> file, const DecodeOptions& options, DecodeReport* report) {
  Tensor image;
  decode(file, options, report, whole_of, [&image](Size size) {
    image = Tensor(DType::u8, {size.height, size.width, channels});
    return image.values<std::uint8_t>().data();
  });
  return image;
}

ImageView decode_jpeg(std::span<const std::byte> file, ByteBuffer& buffer, const DecodeOptions& options,
                      DecodeReport* report) {
  return decode(file, options, report, whole_of, [&](Size size) { return room_in(buffer, size); }).pixels;
}

ImagePart decode_jpeg(std::span<const std::byte> file, const ChooseWindow& choose_window, ByteBuffer& buffer,
                      const DecodeOptions& options, DecodeReport* report) {
  return decode(file, options, report, choose_window, [&](Size size) { return room_in(buffer, size); });
}

ImagePart decode_jpeg(std::span<const std::byte> file, const Window& window, ByteBuffer& buffer,
                      const DecodeOptions& options, DecodeReport* report) {
  const auto choose_window = [&window](Size) { return window; };
  return decode(file, options, report, choose_window, [&](Size size) { return room_in(buffer, size); });
}

Tensor decode_jpeg(std::span<const std::byte> file, const Window& window, const DecodeOptions& options,
                   DecodeReport* report) {
  ByteBuffer buffer;
  return copy_of(decode_jpeg(file, window, buffer, options, report).pixels);
}

}  // namespace penstock::image
