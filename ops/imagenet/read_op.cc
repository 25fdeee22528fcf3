#include "ops/imagenet/read_op.h"

#include <penstock/io.h>
#include <sys/stat.h>

#include <utility>

#include "ops/imagenet/file_op.h"

namespace penstock::imagenet {
namespace {

// More than an annotation of ImageNet has (1 to 8 KiB). Its own size is not asked for: a call to a
// network file system that costs more than these bytes are worth.
constexpr std::size_t annotation_bytes = 16 * KiB;

class ReadOp final : public FileOp<std::string> {
 public:
  ReadOp(std::shared_ptr<const Config> config, Annotations annotations)
      : config_(std::move(config)), annotations_(annotations) {}

  std::string name() const override { return "read_image"; }
  std::string parameters() const override {
    return "annotations=" + (config_->annotations.empty() ? "sibling" : config_->annotations);
  }
  Form form() const override { return Form::blocks; }
  Tunable parallelism() const override { return config_->read_parallelism; }

  // Nothing for a file that is not there: reading it will say so in its place.
  std::size_t bytes_of_result(const std::string& path) const override {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return 0;
    return static_cast<std::size_t>(status.st_size) +
           (needs_annotation(path) ? annotation_bytes : 0);
  }

 private:
  bool needs_annotation(const std::string& path) const {
    return annotations_ == Annotations::all || label_in_path(path).empty();
  }

  Element answer(const std::string& path, Context&) const override {
    if (config_->counters) ++config_->counters->files;
    LoadedFile file;
    file.jpeg = read_file(path);
    if (needs_annotation(path)) file.annotation = annotation_of(path);
    file.path = path;
    if (config_->counters)
      config_->counters->file_bytes += static_cast<std::int64_t>(bytes_of(file));
    return Element(std::move(file));
  }

  std::optional<LoadedAnnotation> annotation_of(const std::string& path) const {
    thread_local AnnotationFile file;  // keeps its path's memory
    if (!read_annotation(path, config_->annotations, config_->voc.max_bytes, file)) return std::nullopt;
    return LoadedAnnotation{detail::PooledString(file.path), std::exchange(file.xml, Tensor())};
  }

  std::shared_ptr<const Config> config_;
  Annotations annotations_;
};

}  // namespace

std::size_t bytes_of(const LoadedFile& file) {
  return file.jpeg.bytes() + (file.annotation ? file.annotation->xml.bytes() : 0);
}

OpRef read_op(std::shared_ptr<const Config> config, Annotations annotations) {
  return std::make_shared<ReadOp>(std::move(config), annotations);
}

}  // namespace penstock::imagenet
