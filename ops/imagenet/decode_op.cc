#include "ops/imagenet/decode_op.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "lib/core/stream_copy.h"

namespace penstock::imagenet {
namespace {

// A thread keeps its picture buffer up to this size, 5 megapixels: 1 in 1000 of ImageNet's files is
// larger.
constexpr std::size_t largest_kept_buffer = 16 * MiB;

ByteBuffer& buffer_of_thread() {
  thread_local ByteBuffer buffer;
  if (buffer.capacity() > largest_kept_buffer) buffer = ByteBuffer();
  return buffer;
}

image::DecodeOptions options_for(const Config& config, const LoadedFile& file) {
  image::DecodeOptions options = config.decode;
  options.name = file.path;
  return options;
}

Shape shape_of(const Config& config) {
  const auto [height, width] = config.size;
  if (config.layout == image::Layout::nchw) return {image::channels, height, width};
  return {height, width, image::channels};
}

std::string text_of(const LabelTable& labels) {
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016" PRIx64, labels.hash());
  return "labels=" + std::to_string(labels.size()) + ":" + hash.data();
}

std::string text_of(const image::DecodeOptions& options) {
  return std::string("dct=") + (options.dct == image::Dct::islow ? "islow" : "ifast") +
         ", fancy_upsampling=" + (options.fancy_upsampling ? "true" : "false") +
         ", truncated=" + (options.truncated == image::Truncated::reject ? "reject" : "accept") +
         ", max_pixels=" + std::to_string(options.max_pixels) +
         (options.decoder == image::Decoder::own ? ", decoder=own" : "");
}

std::string text_of(const VocOptions& options) {
  return "max_objects=" + std::to_string(options.max_objects) + ", max_bytes=" + std::to_string(options.max_bytes);
}

image::ImagePart decode_window(std::span<const std::byte> jpeg, const image::ChooseWindow& choose_window,
                               const image::DecodeOptions& options, image::DecodeReport& report) {
  return image::decode_jpeg(jpeg, choose_window, buffer_of_thread(), options, &report);
}

// The same pixels, cut out of the whole picture.
image::ImagePart cut_window(std::span<const std::byte> jpeg, const image::ChooseWindow& choose_window,
                            const image::DecodeOptions& options, image::DecodeReport& report) {
  const image::ImageView view = image::decode_jpeg(jpeg, buffer_of_thread(), options, &report);
  const image::Size whole{view.height, view.width};
  const image::Window window = choose_window(whole);
  return {view.window(window), window, whole};
}

}  // namespace

DecodeOp::DecodeOp(std::shared_ptr<const Config> config, FastPath fast)
    : config_(std::move(config)), fast_(fast), shape_(shape_of(*config_)) {}

std::string DecodeOp::parameters() const {
  return std::to_string(config_->size.height) + "x" + std::to_string(config_->size.width) + ", " +
         std::string(to_string(config_->dtype)) + (config_->layout == image::Layout::nchw ? ", nchw" : ", nhwc") +
         ", " + (config_->label_of ? "labels=of_path" : text_of(config_->labels)) + ", " + text_of(config_->decode) +
         ", " + text_of(config_->voc) + (fast_.roi ? "" : ", roi=false");
}

image::ImagePart DecodeOp::decode(const LoadedFile& file, const image::ChooseWindow& choose_window) const {
  image::DecodeReport report;
  const auto decode_part = fast_.roi ? decode_window : cut_window;
  try {
    const image::ImagePart part =
        decode_part(image::bytes_of(file.jpeg), choose_window, options_for(*config_, file), report);
    count(report);
    return part;
  } catch (...) {
    count_refusal(report);
    throw;
  }
}

void DecodeOp::count(const image::DecodeReport& report) const {
  if (!config_->counters) return;
  Counters& counters = *config_->counters;
  ++counters.images;
  if (report.warnings > 0) ++counters.damaged;
  if (report.own) ++counters.decoded_own;
  count_refusal(report);
}

void DecodeOp::count_refusal(const image::DecodeReport& report) const {
  if (!config_->counters || report.refusal == image::Refusal::none) return;
  ++config_->counters->refused[static_cast<std::size_t>(report.refusal)];
}

std::size_t DecodeOp::decoded_bytes(const LoadedFile& file) const {
  const image::JpegHeader header = image::read_jpeg_header(image::bytes_of(file.jpeg), options_for(*config_, file));
  return image::Size{header.height, header.width}.values() + image::bytes_of(file.jpeg).size();
}

std::size_t DecodeOp::example_bytes() const { return config_->size.values() * size_of(config_->dtype); }

Tensor DecodeOp::row(Context& context, std::size_t i) const {
  return fast_.rows ? context.outputs().slot(i, config_->dtype, shape_) : Tensor(config_->dtype, shape_);
}

image::Output DecodeOp::output_to(Tensor& row) const {
  image::Output out = image::output_of(row, config_->layout);
  out.stream = fast_.stream && config_->dtype != DType::u8 && Outputs::batch_bytes(row) >= kBeyondCaches;
  out.simd = config_->decode.simd;
  return out;
}

std::int32_t DecodeOp::label_of(const LoadedFile& file, std::string_view first_object) const {
  if (config_->label_of) return config_->label_of(std::string(file.path));
  return config_->labels.id(label_of_file(file.path, first_object));
}

void DecodeOp::count_examples(std::size_t count) const {
  if (!config_->counters) return;
  config_->counters->examples += static_cast<std::int64_t>(count);
  if (count == 0) ++config_->counters->without_examples;
}

}  // namespace penstock::imagenet
