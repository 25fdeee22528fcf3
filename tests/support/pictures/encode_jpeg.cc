#include "tests/support/pictures/encode_jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "ops/image/libjpeg.h"

namespace penstock::pictures {
namespace {

struct ErrorState {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr info) {
  auto& state = *reinterpret_cast<ErrorState*>(info->err);
  state.base.format_message(info, state.text);
  std::longjmp(state.jump, 1);
}

struct Picture {
  const std::uint8_t* pixels;
  std::int64_t height, width;
};

struct Free {
  void operator()(unsigned char* memory) const { std::free(memory); }
};

J_COLOR_SPACE input_space(JpegColour colour) {
  switch (colour) {
    case JpegColour::grey: return JCS_GRAYSCALE;
    case JpegColour::cmyk:
    case JpegColour::ycck: return JCS_CMYK;
    default: return JCS_RGB;
  }
}

J_COLOR_SPACE stored_space(JpegColour colour) {
  switch (colour) {
    case JpegColour::grey: return JCS_GRAYSCALE;
    case JpegColour::cmyk: return JCS_CMYK;
    case JpegColour::ycck: return JCS_YCCK;
    case JpegColour::rgb: return JCS_RGB;
    default: return JCS_YCbCr;
  }
}

void set_options(jpeg_compress_struct& info, const EncodeOptions& options) {
  info.input_components = bytes_per_pixel(options.colour);
  info.in_color_space = input_space(options.colour);
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, stored_space(options.colour));
  jpeg_set_quality(&info, options.quality, options.force_baseline ? TRUE : FALSE);
  info.comp_info[0].h_samp_factor = options.luma_h;
  info.comp_info[0].v_samp_factor = options.luma_v;
  for (int i = 1; i < std::min(info.num_components, 3); ++i) {
    info.comp_info[i].h_samp_factor = options.chroma_h;
    info.comp_info[i].v_samp_factor = options.chroma_v;
  }
  info.optimize_coding = options.optimise && !options.arithmetic ? TRUE : FALSE;
  info.arith_code = options.arithmetic ? TRUE : FALSE;
  info.restart_in_rows = options.restart_rows;
  info.restart_interval = static_cast<unsigned>(options.restart_mcus);
  if (info.write_Adobe_marker && !options.adobe_marker) info.write_Adobe_marker = FALSE;
  if (options.progressive) jpeg_simple_progression(&info);
}

// The part that may end in longjmp; no C++ objects live here.
bool encode(jpeg_compress_struct& info, ErrorState& error, const Picture& picture, const EncodeOptions& options,
            unsigned char*& file, unsigned long& size) {
  if (setjmp(error.jump) != 0) return false;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &file, &size);
  info.image_height = static_cast<JDIMENSION>(picture.height);
  info.image_width = static_cast<JDIMENSION>(picture.width);
  set_options(info, options);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    const std::size_t offset = static_cast<std::size_t>(info.next_scanline) * info.image_width *
                               static_cast<std::size_t>(info.input_components);
    JSAMPROW row = const_cast<JSAMPROW>(picture.pixels + offset);  // libjpeg does not write to it
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

int bytes_per_pixel(JpegColour colour) {
  switch (input_space(colour)) {
    case JCS_GRAYSCALE: return 1;
    case JCS_CMYK: return 4;
    default: return 3;
  }
}

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                                   const EncodeOptions& options) {
  if (static_cast<std::int64_t>(pixels.size()) != height * width * bytes_per_pixel(options.colour))
    throw std::runtime_error("encode_jpeg: the pixels do not fill the picture");
  jpeg_compress_struct info{};
  ErrorState error{};
  info.err = jpeg_std_error(&error.base);
  error.base.error_exit = on_error;
  unsigned char* file = nullptr;
  unsigned long size = 0;
  const bool done = encode(info, error, {pixels.data(), height, width}, options, file, size);
  jpeg_destroy_compress(&info);
  // After a failure `file` may point to memory that libjpeg has replaced, so it is not ours to
  // free.
  if (!done) throw std::runtime_error(std::string("encode_jpeg: ") + error.text);
  const std::unique_ptr<unsigned char, Free> owner(file);
  const auto* first = reinterpret_cast<const std::byte*>(file);
  return {first, first + size};
}

}  // namespace penstock::pictures
