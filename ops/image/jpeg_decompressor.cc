#include "ops/image/jpeg_decompressor.h"

#include <algorithm>
#include <new>
#include <string_view>

namespace penstock::image {
namespace {

constexpr int rows_per_call = 16;
constexpr int most_scans = 500;

JpegErrorState& state_of(j_common_ptr info) { return *reinterpret_cast<JpegErrorState*>(info->err); }

[[noreturn]] void on_error(j_common_ptr info) {
  JpegErrorState& state = state_of(info);
  state.code = state.base.msg_code;
  state.base.format_message(info, state.text);
  std::longjmp(state.jump, 1);
}

// Level -1 is a warning: damage that libjpeg repairs. Others are traces.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  JpegErrorState& state = state_of(info);
  const int code = state.base.msg_code;
  const bool ended = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER;
  if (ended && state.reject_truncated) on_error(info);
  state.truncated = state.truncated || ended;
  if (state.warnings++ == 0) state.base.format_message(info, state.first_warning);
}

void ignore_output(j_common_ptr) {}

// A small progressive file can name thousands of scans, each of which costs a pass over all
// coefficients. See "DoS" in libjpeg-turbo's jpeglib documentation (libjpeg.txt, "Progressive JPEG
// support").
void check_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
  JpegErrorState& state = state_of(info);
  state.code = JpegDecompressor::too_many_scans;
  std::snprintf(state.text, sizeof state.text,
                "more than %d scans; take it off the list, nobody makes such files in earnest", most_scans);
  std::longjmp(state.jump, 1);
}

// Where the window's rows go.
struct Rows {
  std::uint8_t* out;
  std::size_t stride;
  JDIMENSION first, end;  // in the image

  // Those above the window, where they were not skipped, all go where its first row will be.
  std::uint8_t* place(JDIMENSION row) const { return out + (row > first ? row - first : 0) * stride; }
};

void read_rgb_rows(j_decompress_ptr info, const Rows& rows) {
  while (info->output_scanline < rows.end) {
    JSAMPROW places[rows_per_call];
    JDIMENSION count = 0;
    for (; count < rows_per_call && info->output_scanline + count < rows.end; ++count)
      places[count] = rows.place(info->output_scanline + count);
    jpeg_read_scanlines(info, places, count);
  }
}

// TensorFlow's conversion: in integers, truncating. Files with Adobe's marker store inverted ink.
void cmyk_to_rgb(const JSAMPLE* from, std::uint8_t* to, JDIMENSION width, bool inverted) {
  for (JDIMENSION x = 0; x < width; ++x, from += 4, to += 3)
    for (int c = 0; c < 3; ++c) {
      const int ink = inverted ? from[c] : 255 - from[c];
      const int black = inverted ? from[3] : 255 - from[3];
      to[c] = static_cast<std::uint8_t>(black * ink / 255);
    }
}

void read_cmyk_rows(j_decompress_ptr info, const Rows& rows) {
  JSAMPARRAY row =
      info->mem->alloc_sarray(reinterpret_cast<j_common_ptr>(info), JPOOL_IMAGE, info->output_width * 4, 1);
  while (info->output_scanline < rows.end) {
    std::uint8_t* to = rows.place(info->output_scanline);
    jpeg_read_scanlines(info, row, 1);
    cmyk_to_rgb(row[0], to, info->output_width, info->saw_Adobe_marker);
  }
}

// Whether libjpeg can leave out rows and columns without a change to the others. Not with several scans: where the last
// ones are missing, of which it does not warn, it smooths blocks by their neighbours, and by wrong ones in a window.
// Nor without fancy upsampling, where rows come in pairs: skipping had faults there (libjpeg-turbo#244, #915).
bool can_leave_out(j_decompress_ptr info) {
  const bool subsampled = info->max_h_samp_factor > 1 || info->max_v_samp_factor > 1;
  return jpeg_has_multiple_scans(info) == 0 && (info->do_fancy_upsampling != 0 || !subsampled);
}

// Fancy upsampling makes a pixel of its neighbours too, and treats the first and last columns that it sees as the
// image's.
std::int64_t columns_beside(const jpeg_decompress_struct& info) { return info.max_h_samp_factor > 1 ? 2 : 0; }

// Whether the file's end is there, without decoding up to it: in the data of a scan no ff is followed by d9.
bool has_end(j_decompress_ptr info) {
  if (jpeg_input_complete(info) != 0 || info->unread_marker == JPEG_EOI) return true;
  const std::string_view rest(reinterpret_cast<const char*>(info->src->next_input_byte), info->src->bytes_in_buffer);
  return rest.rfind("\xff\xd9") != rest.npos;
}

// Ends an image of which rows are left. A file cut off is noticed as if they had been read.
void leave_rest(j_decompress_ptr info) {
  if (!has_end(info)) WARNMS(info, JWRN_JPEG_EOF);
  jpeg_abort_decompress(info);
}

}  // namespace

JpegDecompressor::JpegDecompressor() {
  info_.err = jpeg_std_error(&error_.base);
  error_.base.error_exit = on_error;
  error_.base.emit_message = on_message;
  error_.base.output_message = ignore_output;
  progress_.progress_monitor = check_scans;
  if (!create()) throw std::bad_alloc();
}

JpegDecompressor::~JpegDecompressor() { jpeg_destroy_decompress(&info_); }

bool JpegDecompressor::create() noexcept {
  if (setjmp(error_.jump) != 0) return false;
  jpeg_create_decompress(&info_);
  info_.progress = &progress_;
  return true;
}

bool JpegDecompressor::read_header(std::span<const std::byte> file, const DecodeOptions& options) noexcept {
  error_.reject_truncated = options.truncated == Truncated::reject;
  error_.truncated = false;
  error_.warnings = 0;
  error_.first_warning[0] = '\0';
  if (setjmp(error_.jump) != 0) {
    jpeg_abort_decompress(&info_);
    return false;
  }
  // A new one each time: libjpeg keeps tables for files that come without, which to us are damaged.
  jpeg_destroy_decompress(&info_);
  jpeg_create_decompress(&info_);
  info_.progress = &progress_;
  jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info_, TRUE);
  const bool inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  info_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  info_.dct_method = options.dct == Dct::ifast ? JDCT_IFAST : JDCT_ISLOW;
  info_.do_fancy_upsampling = options.fancy_upsampling ? TRUE : FALSE;
  return true;
}

void JpegDecompressor::crop_columns() {
  const std::int64_t beside = columns_beside(info_);
  const std::int64_t begin = std::max<std::int64_t>(window_.x - beside, 0);
  const std::int64_t end = std::min<std::int64_t>(window_.x + window_.width + beside, info_.output_width);
  if (end - begin == info_.output_width) return;
  auto first = static_cast<JDIMENSION>(begin);
  auto width = static_cast<JDIMENSION>(end - begin);
  jpeg_crop_scanline(&info_, &first, &width);
  first_decoded_column_ = first;
}

bool JpegDecompressor::start(const Window& window) noexcept {
  window_ = window;
  first_decoded_column_ = 0;
  if (setjmp(error_.jump) != 0) {
    jpeg_abort_decompress(&info_);
    return false;
  }
  jpeg_start_decompress(&info_);
  if (can_leave_out(&info_)) {
    crop_columns();
    jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(window_.y));
  }
  return true;
}

bool JpegDecompressor::read_rows(std::uint8_t* out, std::size_t stride) noexcept {
  if (setjmp(error_.jump) != 0) {
    jpeg_abort_decompress(&info_);
    return false;
  }
  const Rows rows{out, stride, static_cast<JDIMENSION>(window_.y), static_cast<JDIMENSION>(window_.y + window_.height)};
  if (info_.out_color_space == JCS_CMYK)
    read_cmyk_rows(&info_, rows);
  else
    read_rgb_rows(&info_, rows);
  if (rows.end == info_.output_height)
    jpeg_finish_decompress(&info_);
  else
    leave_rest(&info_);
  return true;
}

void JpegDecompressor::drop() noexcept { jpeg_abort_decompress(&info_); }

}  // namespace penstock::image
