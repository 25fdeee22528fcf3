#include "tests/ops/image/libjpeg_stages.h"

// libjpeg's header needs these two first.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace penstock::testing {
namespace {

[[noreturn]] void fail(j_common_ptr info) {
  std::array<char, JMSG_LENGTH_MAX> text{};
  info->err->format_message(info, text.data());
  throw std::runtime_error(text.data());
}

void fail_on_warning(j_common_ptr info, int level) {
  if (level < 0) fail(info);
}

// libjpeg is C, but is compiled so that exceptions pass through it on x86-64 and arm64 (unwind tables are in the ABI).
class Reader {
 public:
  explicit Reader(std::span<const std::byte> file) {
    info.err = jpeg_std_error(&errors_);
    errors_.error_exit = fail;
    errors_.emit_message = fail_on_warning;
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&info, TRUE);
    info.dct_method = JDCT_ISLOW;
    info.do_fancy_upsampling = TRUE;
  }
  ~Reader() { jpeg_destroy_decompress(&info); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  jpeg_decompress_struct info{};

 private:
  jpeg_error_mgr errors_{};
};

CoefficientPlane plane_of(jpeg_decompress_struct& info, int index, jvirt_barray_ptr blocks, unsigned across, unsigned down) {
  const jpeg_component_info& component = info.comp_info[index];
  CoefficientPlane plane{.across = component.h_samp_factor, .down = component.v_samp_factor};
  std::copy_n(component.quant_table->quantval, 64, plane.steps.begin());
  for (unsigned y = 0; y < down; ++y) {
    const JBLOCKARRAY row = info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info), blocks, y, 1, FALSE);
    for (unsigned x = 0; x < across; ++x) std::copy_n(row[0][x], 64, plane.blocks.emplace_back().begin());
  }
  return plane;
}

unsigned rounded_up(unsigned value, int unit) {
  const auto size = static_cast<unsigned>(unit);
  return (value + size - 1) / size * size;
}

// As many rows of samples as libjpeg writes at once.
void read_some(jpeg_decompress_struct& info, std::vector<SamplePlane>& planes, std::size_t mcu_row) {
  std::vector<std::vector<JSAMPROW>> rows(planes.size());
  std::vector<JSAMPARRAY> arrays;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const auto count = static_cast<std::size_t>(info.comp_info[i].v_samp_factor) * 8;
    for (std::size_t y = 0; y < count; ++y) rows[i].push_back(planes[i].samples.data() + (mcu_row * count + y) * planes[i].width);
    arrays.push_back(rows[i].data());
  }
  jpeg_read_raw_data(&info, arrays.data(), static_cast<JDIMENSION>(info.max_v_samp_factor * 8));
}

}  // namespace

JpegCoefficients coefficients_of(std::span<const std::byte> file) {
  Reader reader(file);
  jpeg_decompress_struct& info = reader.info;
  jvirt_barray_ptr* const blocks = jpeg_read_coefficients(&info);
  JpegCoefficients picture{.width = static_cast<int>(info.image_width), .height = static_cast<int>(info.image_height)};
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    picture.planes.push_back(plane_of(info, i, blocks[i], rounded_up(component.width_in_blocks, component.h_samp_factor),
                                      rounded_up(component.height_in_blocks, component.v_samp_factor)));
  }
  return picture;
}

std::vector<SamplePlane> libjpeg_planes(std::span<const std::byte> file) {
  Reader reader(file);
  jpeg_decompress_struct& info = reader.info;
  info.raw_data_out = TRUE;
  jpeg_start_decompress(&info);
  std::vector<SamplePlane> planes(static_cast<std::size_t>(info.num_components));
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    planes[i].width = std::size_t{rounded_up(component.width_in_blocks, component.h_samp_factor)} * 8;
    planes[i].height = std::size_t{rounded_up(component.height_in_blocks, component.v_samp_factor)} * 8;
    planes[i].used_width = component.downsampled_width;
    planes[i].used_height = component.downsampled_height;
    planes[i].samples.resize(planes[i].width * planes[i].height);
  }
  for (std::size_t row = 0; info.output_scanline < info.output_height; ++row) read_some(info, planes, row);
  return planes;
}

std::vector<std::uint8_t> libjpeg_pixels(std::span<const std::byte> file, OracleColour colour) {
  Reader reader(file);
  jpeg_decompress_struct& info = reader.info;
  info.out_color_space = colour == OracleColour::rgb ? JCS_RGB : JCS_YCbCr;
  jpeg_start_decompress(&info);
  const std::size_t stride = std::size_t{info.output_width} * 3;
  std::vector<std::uint8_t> pixels(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + stride * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  return pixels;
}

}  // namespace penstock::testing
