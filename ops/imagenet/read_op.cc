#include "ops/imagenet/read_op.h"

#include <utility>

#include "ops/imagenet/annotation_path.h"
#include "ops/imagenet/file_op.h"
#include "ops/io/read_file.h"

namespace penstock::imagenet {
namespace {

// More than an annotation of ImageNet has (1 to 8 KiB). Its own size is not asked for: a call to a
// network file system that costs more than these bytes are worth.
constexpr std::size_t annotation_bytes = 16 * KiB;

class ReadOp final : public FileOp<std::string> {
 public:
  ReadOp(std::shared_ptr<const Config> config, Annotations annotations, io::FileSystemRef files)
      : config_(std::move(config)), annotations_(annotations), files_(std::move(files)) {}

  std::string name() const override { return "read_image"; }
  std::string parameters() const override {
    return "annotations=" + (config_->annotations.empty() ? "sibling" : config_->annotations);
  }
  Form form() const override { return Form::blocks; }
  Tunable parallelism() const override { return config_->read_parallelism; }

  // Nothing for a file that is not there: reading it will say so in its place.
  std::size_t bytes_of_result(const std::string& path) const override {
    const auto [status, error] = files_->status(path);
    if (error != 0) return 0;
    return status.version.size + (needs_annotation(path) ? annotation_bytes : 0);
  }

 private:
  bool needs_annotation(const std::string& path) const {
    if (annotations_ != Annotations::where_path_has_no_label) return true;
    return !config_->label_of && label_in_path(path).empty();
  }

  Element answer(const std::string& path, Context&) const override {
    if (config_->counters) ++config_->counters->files;
    LoadedFile file;
    file.jpeg = io::read_file(*files_, path);
    if (needs_annotation(path)) file.annotation = annotation_of(path);
    file.path = path;
    if (config_->counters) config_->counters->file_bytes += static_cast<std::int64_t>(bytes_of(file));
    if (annotations_ == Annotations::all && file.annotation) find_boxes(*file.annotation);
    return Element(std::move(file));
  }

  std::optional<LoadedAnnotation> annotation_of(const std::string& path) const {
    thread_local AnnotationFile file;  // keeps its path's memory
    if (!read_annotation(*files_, path, config_->annotations, config_->voc.max_bytes, file)) return std::nullopt;
    return LoadedAnnotation{detail::PooledString(file.path), std::exchange(file.xml, Tensor()), std::nullopt};
  }

  // An annotation that is wrong is the computing map's to report: it gets the XML and will fail in the same way.
  void find_boxes(LoadedAnnotation& annotation) const {
    try {
      annotation.boxes = boxes_of(annotation, *config_);
      annotation.xml = Tensor();
    } catch (const Error&) {
    }
  }

  std::shared_ptr<const Config> config_;
  Annotations annotations_;
  io::FileSystemRef files_;
};

}  // namespace

std::size_t bytes_of(const LoadedFile& file) {
  if (!file.annotation) return file.jpeg.bytes();
  const auto& [path, xml, boxes] = *file.annotation;
  return file.jpeg.bytes() + xml.bytes() + (boxes ? boxes->boxes.size() * sizeof(image::Box) : 0);
}

const VocAnnotation& parsed(const LoadedAnnotation& annotation, const Config& config) {
  VocOptions options = config.voc;
  options.name = annotation.path;
  thread_local VocAnnotation result;
  parse_voc(image::bytes_of(annotation.xml), options, result);
  return result;
}

Boxes boxes_of(const LoadedAnnotation& annotation, const Config& config) {
  thread_local std::vector<image::Box> boxes;
  Boxes result;
  const VocAnnotation& voc = parsed(annotation, config);
  normalised_boxes(voc, {config.boxes, annotation.path, &result.clamped}, boxes);
  result.boxes.assign(boxes.begin(), boxes.end());
  if (!voc.objects.empty()) result.first_name = voc.objects.front().name;
  return result;
}

OpRef read_op(std::shared_ptr<const Config> config, Annotations annotations, io::FileSystemRef files) {
  return std::make_shared<ReadOp>(std::move(config), annotations, std::move(files));
}

}  // namespace penstock::imagenet
