#include "ops/image/row_writer.h"

#include <hwy/cache_control.h>

#include <string>
#include <vector>

#include "ops/image/check.h"

namespace penstock::image {
namespace {

void check_output(const Output& out, Size size, const char* function) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, std::string(function) + ": " + why);
  };
  check_output_size(size, function);
  if (!is_pixel_type(out.type))
    refuse("values are of type f32, f16, bf16 or u8, not " + std::string(to_string(out.type)));
  if (out.normaliser != nullptr && out.type == DType::u8)
    refuse("normalised values do not fit u8; choose f32, f16 or bf16, or leave out the normaliser");
  if (out.memory.size() != size.values() * size_of(out.type))
    refuse("the output needs " + std::to_string(size.values() * size_of(out.type)) + " bytes, but its memory has " +
           std::to_string(out.memory.size()));
  if (reinterpret_cast<std::uintptr_t>(out.memory.data()) % size_of(out.type) != 0)
    refuse("the output's memory is not aligned to values of " + std::to_string(size_of(out.type)) + " bytes");
}

const Output& checked(const Output& out, Size size, const char* function) {
  check_output(out, size, function);
  return out;
}

const detail::NormaliserTables& tables_of(const Output& out) {
  static const detail::NormaliserTables as_they_are(1, {0, 0, 0}, {1, 1, 1});
  return out.normaliser != nullptr ? out.normaliser->tables() : as_they_are;
}

}  // namespace

RowWriter::RowWriter(const Output& out, Size size, const char* function)
    : out_(checked(out, size, function)), size_(size), kernels_(store_kernels(out.simd)), how_(tables_of(out)) {}

RowWriter::~RowWriter() {
  if (out_.stream) hwy::FlushStream();
}

RowTarget RowWriter::target(std::int64_t y) const {
  const std::int64_t first = y * size_.width * (out_.layout == Layout::nhwc ? channels : 1);
  return {.type = out_.type,
          .layout = out_.layout,
          .at = out_.memory.data() + static_cast<std::size_t>(first) * size_of(out_.type),
          .plane = static_cast<std::size_t>(size_.height * size_.width),
          .stream = out_.stream};
}

void RowWriter::put(std::int64_t y, const std::uint8_t* row) const {
  const auto width = static_cast<std::size_t>(size_.width);
  if (out_.mirror == Mirror::no) return kernels_.store(how_, target(y), row, width);
  thread_local std::vector<std::uint8_t> mirrored;
  mirrored.resize(width * channels);
  kernels_.mirror(row, width, mirrored.data());
  kernels_.store(how_, target(y), mirrored.data(), width);
}

void store(const ImageView& image, const Output& out) {
  const RowWriter writer(out, {image.height, image.width}, "store");
  for (std::int64_t y = 0; y < image.height; ++y) writer.put(y, image.row(y));
}

}  // namespace penstock::image
