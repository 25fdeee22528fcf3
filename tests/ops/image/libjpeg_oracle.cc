#include "tests/ops/image/libjpeg_oracle.h"

#include <algorithm>
#include <csetjmp>

#include "ops/image/libjpeg.h"

namespace penstock::testing {
namespace {

using image::HuffmanCode;
using image::JpegComponent;
using image::JpegHeaders;

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

void on_message(j_common_ptr info, int level) { info->err->num_warnings += level < 0 ? 1 : 0; }

// The parts that may end in longjmp stand in functions without C++ objects.
bool read_arrays(jpeg_decompress_struct& info, ErrorState& error, std::span<const std::byte> file, jvirt_barray_ptr*& arrays) {
  if (setjmp(error.jump) != 0) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  arrays = jpeg_read_coefficients(&info);
  return true;
}

bool start(jpeg_decompress_struct& info, ErrorState& error, std::span<const std::byte> file) {
  if (setjmp(error.jump) != 0) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  return true;
}

void set_up(jpeg_decompress_struct& info, ErrorState& error) {
  info.err = jpeg_std_error(&error.base);
  error.base.error_exit = on_error;
  error.base.emit_message = on_message;
}

ComponentCoefficients copy_of(jpeg_decompress_struct& info, int index, jvirt_barray_ptr array) {
  const jpeg_component_info& component = info.comp_info[index];
  ComponentCoefficients copied{.across = component.width_in_blocks, .down = component.height_in_blocks, .blocks = {}};
  for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
    JBLOCKARRAY row = info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info), array, y, 1, FALSE);
    for (JDIMENSION x = 0; x < component.width_in_blocks; ++x) {
      auto& block = copied.blocks.emplace_back();
      for (std::size_t i = 0; i < 64; ++i) block[i] = row[0][x][i];
    }
  }
  return copied;
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

LibjpegCoefficients libjpeg_coefficients(std::span<const std::byte> file) {
  jpeg_decompress_struct info{};
  ErrorState error{};
  set_up(info, error);
  LibjpegCoefficients found;
  jvirt_barray_ptr* arrays = nullptr;
  if (read_arrays(info, error, file, arrays)) {
    found.warnings = error.base.num_warnings;
    for (int i = 0; i < info.num_components; ++i) found.components.push_back(copy_of(info, i, arrays[i]));
  } else {
    found.error = error.text;
  }
  jpeg_destroy_decompress(&info);
  return found;
}

std::string disagreement_on_headers(std::span<const std::byte> file, const JpegHeaders& headers) {
  jpeg_decompress_struct info{};
  ErrorState error{};
  set_up(info, error);
  std::string found = start(info, error, file) ? disagreement(info, headers, file.size()) : std::string(error.text);
  jpeg_destroy_decompress(&info);
  return found;
}

}  // namespace penstock::testing
