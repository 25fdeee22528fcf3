#include "tests/exam/real/pictures.h"

#include <penstock/image.h>
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/penstock.h>
#include <penstock/voc.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace penstock::exam {
namespace {

constexpr image::Size kCrop = {256, 256};

struct Path {
  std::string image, annotations;
};

struct File {
  Tensor jpeg;
  std::vector<image::Box> boxes;
  friend std::size_t bytes_of(const File& file) { return file.jpeg.bytes(); }
};

struct Picture {
  Tensor pixels;
  std::vector<image::Box> boxes;
  friend std::size_t bytes_of(const Picture& picture) { return picture.pixels.bytes(); }
};

// What all three functions have.
struct Stage {
  const StageSpec spec;
  const int number;
  const std::shared_ptr<RealWorld> world;

  void made(std::size_t bytes) const { world->made(number, static_cast<std::int64_t>(bytes)); }
};

std::vector<image::Box> boxes_of(const Path& path) {
  const auto file = read_annotation(path.image, path.annotations);
  if (!file) return {image::Box{}};
  return normalised_boxes(parse_voc(file->xml, {.name = file->path}), {.policy = BoxPolicy::tf, .name = file->path});
}

struct Read : Stage {
  File operator()(const Path& path) const {
    const CallScope scope(*world, spec);
    sleep_ns((spec.blocked_times.at(world->now(), 1) - 1) * spec.blocked.mean);
    File file{read_file(path.image), boxes_of(path)};
    made(bytes_of(file));
    return file;
  }
};

struct Decode : Stage {
  Picture operator()(const File& file) const {
    const CallScope scope(*world, spec);
    Picture picture{image::decode_jpeg(image::bytes_of(file.jpeg)), file.boxes};
    made(bytes_of(picture));
    return picture;
  }
};

struct Crop : Stage {
  Tensor operator()(const Picture& picture) const {
    const CallScope scope(*world, spec);
    Tensor crops = image::crop_and_resize(image::view_of(picture.pixels), picture.boxes, kCrop);
    made(crops.bytes());
    return crops;
  }
};

std::size_t decoded_bytes(const File& file) {
  const auto header = image::read_jpeg_header(image::bytes_of(file.jpeg));
  return static_cast<std::size_t>(header.width * header.height) * image::channels;
}

std::size_t crop_bytes(const Picture& picture) {
  return picture.boxes.size() * kCrop.height * kCrop.width * image::channels * sizeof(float);
}

Dataset<Path> endless(const std::string& folder) {
  return from_generator(
      [images = imagenet::list_images(folder), annotations = folder + "-annotations", next = std::size_t{0}]() mutable {
        return std::optional<Path>(Path{images[next++ % images.size()], annotations});
      });
}

}  // namespace

graph::NodeRef picture_pipeline(const ChainSpec& spec, const std::shared_ptr<RealWorld>& world,
                                const std::string& folder) {
  if (spec.stages.size() != 3)
    throw std::invalid_argument("picture_pipeline: three stages are expected: read, decode, crop");
  const auto stage = [&](int number) {
    return Stage{spec.stages[static_cast<std::size_t>(number - 1)], number, world};
  };
  return endless(folder)
      .map(Read{stage(1)}, AUTOTUNE, {.blocks = true})
      .map(Decode{stage(2)}, AUTOTUNE, {.blocks = false, .bytes_hint = decoded_bytes})
      .map(Crop{stage(3)}, AUTOTUNE, {.blocks = false, .bytes_hint = crop_bytes})
      .node();
}

}  // namespace penstock::exam
