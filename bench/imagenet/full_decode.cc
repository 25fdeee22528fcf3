#include "bench/imagenet/full_decode.h"

// libjpeg's header needs these two first.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <csetjmp>

namespace penstock::bench {

struct FullDecode::Decompressor {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump;
};

namespace {

[[noreturn]] void leave(j_common_ptr info) { std::longjmp(static_cast<std::jmp_buf*>(info->client_data)[0], 1); }

void ignore(j_common_ptr, int) {}

}  // namespace

FullDecode::FullDecode() : decompressor_(std::make_unique<Decompressor>()) {
  Decompressor& d = *decompressor_;
  d.info.err = jpeg_std_error(&d.errors);
  d.errors.error_exit = leave;
  d.errors.emit_message = ignore;
  jpeg_create_decompress(&d.info);
  d.info.client_data = &d.jump;
}

FullDecode::~FullDecode() { jpeg_destroy_decompress(&decompressor_->info); }

std::size_t FullDecode::width() const noexcept { return decompressor_->info.output_width; }
std::size_t FullDecode::height() const noexcept { return decompressor_->info.output_height; }

bool FullDecode::decode(std::span<const std::byte> file) noexcept {
  if (setjmp(decompressor_->jump) == 0) return read_rows(file);
  jpeg_abort_decompress(&decompressor_->info);
  return false;
}

bool FullDecode::read_rows(std::span<const std::byte> file) {
  jpeg_decompress_struct& info = decompressor_->info;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  info.dct_method = JDCT_ISLOW;
  info.do_fancy_upsampling = TRUE;
  info.out_color_space = info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  const std::size_t stride = std::size_t{info.output_width} * static_cast<std::size_t>(info.output_components);
  if (pixels_.size() < stride * info.output_height) pixels_.resize(stride * info.output_height);
  rows_.resize(info.output_height);
  for (std::size_t y = 0; y < rows_.size(); ++y) rows_[y] = pixels_.data() + stride * y;
  while (info.output_scanline < info.output_height)
    jpeg_read_scanlines(&info, &rows_[info.output_scanline], info.output_height - info.output_scanline);
  jpeg_finish_decompress(&info);
  return true;
}

}  // namespace penstock::bench
