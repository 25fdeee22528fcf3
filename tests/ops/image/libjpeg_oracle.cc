#include "tests/ops/image/libjpeg_oracle.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "ops/image/libjpeg.h"

namespace penstock::testing {
namespace {

using image::HuffmanCode;
using image::JpegComponent;
using image::JpegHeaders;

[[noreturn]] void fail(j_common_ptr info) {
  std::array<char, JMSG_LENGTH_MAX> text{};
  info->err->format_message(info, text.data());
  throw std::runtime_error(text.data());
}

void fail_on_warning(j_common_ptr info, int level) {
  if (level < 0) fail(info);
}

void count_warning(j_common_ptr info, int level) { info->err->num_warnings += level < 0 ? 1 : 0; }

using OnMessage = void (*)(j_common_ptr, int);

// libjpeg is C, but is compiled so that exceptions pass through it on x86-64 and arm64 (unwind tables are in the ABI).
class Reader {
 public:
  // Delegates, so that what throws here finds a whole object to destroy.
  explicit Reader(std::span<const std::byte> file, OnMessage on_message = fail_on_warning) : Reader(on_message) {
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
  explicit Reader(OnMessage on_message) {
    info.err = jpeg_std_error(&errors_);
    errors_.error_exit = fail;
    errors_.emit_message = on_message;
    jpeg_create_decompress(&info);
  }

  jpeg_error_mgr errors_{};
};

std::vector<CoefficientBlock> blocks_of(jpeg_decompress_struct& info, jvirt_barray_ptr array, unsigned across,
                                        unsigned down) {
  std::vector<CoefficientBlock> blocks;
  for (unsigned y = 0; y < down; ++y) {
    const JBLOCKARRAY row = info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info), array, y, 1, FALSE);
    for (unsigned x = 0; x < across; ++x) std::copy_n(row[0][x], 64, blocks.emplace_back().begin());
  }
  return blocks;
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
    for (std::size_t y = 0; y < count; ++y)
      rows[i].push_back(planes[i].samples.data() + (mcu_row * count + y) * planes[i].width);
    arrays.push_back(rows[i].data());
  }
  jpeg_read_raw_data(&info, arrays.data(), static_cast<JDIMENSION>(info.max_v_samp_factor * 8));
}

bool is_same(const JHUFF_TBL* theirs, const HuffmanCode& ours) {
  if (theirs == nullptr || !ours.is_there) return false;
  return std::equal(theirs->bits + 1, theirs->bits + 17, ours.counts.begin() + 1) &&
         std::equal(theirs->huffval, theirs->huffval + 256, ours.symbols.begin());
}

std::string disagreement_on_component(const jpeg_decompress_struct& info, int index, const JpegHeaders& headers) {
  const jpeg_component_info& theirs = info.comp_info[index];
  const JpegComponent& ours = headers.component[static_cast<std::size_t>(index)];
  if (theirs.component_id != ours.id || info.cur_comp_info[index] != &theirs) return "components";
  const bool same_factors = theirs.h_samp_factor == ours.across && theirs.v_samp_factor == ours.down;
  if (info.num_components > 1 && !same_factors) return "factors";
  const auto& steps = headers.quantisers[ours.quantiser];
  if (!std::equal(steps.begin(), steps.end(), theirs.quant_table->quantval)) return "quantisers";
  if (!is_same(info.dc_huff_tbl_ptrs[theirs.dc_tbl_no], headers.dc[ours.dc])) return "DC code";
  if (!is_same(info.ac_huff_tbl_ptrs[theirs.ac_tbl_no], headers.ac[ours.ac])) return "AC code";
  return {};
}

std::string disagreement(jpeg_decompress_struct& info, const JpegHeaders& headers, std::size_t file_bytes) {
  if (info.err->num_warnings != 0) return "a warning";
  if (info.image_width != headers.width || info.image_height != headers.height) return "size";
  if (info.num_components != headers.components) return "number of components";
  if (info.jpeg_color_space != (headers.components == 1 ? JCS_GRAYSCALE : JCS_YCbCr)) return "colour";
  if (info.restart_interval != headers.restart_interval) return "restart interval";
  if (info.progressive_mode || info.arith_code || jpeg_has_multiple_scans(&info)) return "process";
  if (file_bytes - info.src->bytes_in_buffer != headers.scan) return "where the scan begins";
  for (int i = 0; i < info.num_components; ++i)
    if (std::string found = disagreement_on_component(info, i, headers); !found.empty()) return found;
  return {};
}

}  // namespace

std::string disagreement_on_headers(std::span<const std::byte> file, const JpegHeaders& headers) try {
  Reader reader(file, count_warning);
  jpeg_start_decompress(&reader.info);
  return disagreement(reader.info, headers, file.size());
} catch (const std::runtime_error& error) {
  return error.what();
}

LibjpegCoefficients libjpeg_coefficients(std::span<const std::byte> file) {
  LibjpegCoefficients found;
  try {
    Reader reader(file, count_warning);
    jvirt_barray_ptr* const arrays = jpeg_read_coefficients(&reader.info);
    found.warnings = reader.info.err->num_warnings;
    for (int i = 0; i < reader.info.num_components; ++i) {
      const unsigned across = reader.info.comp_info[i].width_in_blocks,
                     down = reader.info.comp_info[i].height_in_blocks;
      found.components.push_back({across, down, blocks_of(reader.info, arrays[i], across, down)});
    }
  } catch (const std::runtime_error& error) {
    found.error = error.what();
  }
  return found;
}

JpegCoefficients coefficients_of(std::span<const std::byte> file) {
  Reader reader(file);
  jpeg_decompress_struct& info = reader.info;
  jvirt_barray_ptr* const arrays = jpeg_read_coefficients(&info);
  JpegCoefficients picture{.width = static_cast<int>(info.image_width), .height = static_cast<int>(info.image_height)};
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    CoefficientPlane& plane = picture.planes.emplace_back();
    plane.across = component.h_samp_factor;
    plane.down = component.v_samp_factor;
    std::copy_n(component.quant_table->quantval, 64, plane.steps.begin());
    plane.blocks = blocks_of(info, arrays[i], rounded_up(component.width_in_blocks, component.h_samp_factor),
                             rounded_up(component.height_in_blocks, component.v_samp_factor));
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
