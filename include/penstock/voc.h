// Annotations in the XML of PASCAL VOC and ImageNet: finding the file, reading it, turning its
// boxes into crops.
//
// Everything here may be called from any number of threads. Parsing an ImageNet annotation costs 5 us.
//
//   std::vector<ps::image::Box> boxes{ps::image::Box{}};  // no annotation: the whole image
//   if (auto file = ps::read_annotation(path))
//     boxes = ps::normalised_boxes(ps::parse_voc(file->xml, {.name = file->path}), {.name = file->path});
//   ps::Tensor crops = ps::image::crop_and_resize(view, boxes, {256, 256});
#pragma once

#include <penstock/image/boxes.h>
#include <penstock/image/crop_and_resize.h>
#include <penstock/tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {

// One <object>. Corners in pixels as written; in VOC they count from 1 and lie inside the box, so
// 1 <= xmin <= xmax <= width.
struct VocObject {
  std::string name;  // empty if the file gives none
  double xmin = 0;
  double ymin = 0;
  double xmax = 0;
  double ymax = 0;
};

struct VocAnnotation {
  std::int64_t width = 0;  // of the picture, at least 1
  std::int64_t height = 0;
  std::vector<VocObject> objects;  // in the order of the file; may be empty
};

struct VocOptions {
  // A larger file is refused with resource_exhausted. Default 16 MiB.
  std::size_t max_bytes = std::size_t{16} << 20;

  // A file with more objects is refused with resource_exhausted: each of them may become a crop.
  std::size_t max_objects = 1000;

  // Where the bytes came from, for error texts only.
  std::string_view name = {};
};

// Reads size/width, size/height and of each object the name and the first bndbox. Other tags are ignored.
//
// Error(data_loss): not well-formed XML, a document type with entities of its own (never expanded), a tag is missing or
// holds no number; the text names the file, the object (from 1) and the tag. Corners may be any number, also nan: what
// is done with them is BoxPolicy's matter.
// Error(resource_exhausted): more than max_bytes or max_objects.
VocAnnotation parse_voc(std::span<const std::byte> xml, const VocOptions& options = {});
VocAnnotation parse_voc(const Tensor& xml, const VocOptions& options = {});
// The same into `annotation`, whose memory is used again. After an error it holds anything.
void parse_voc(std::span<const std::byte> xml, const VocOptions& options, VocAnnotation& annotation);

// What to do with a box that leaves the picture or is no box.
enum class BoxPolicy : std::uint8_t {
  strict,  // Error(data_loss) unless 0 <= xmin < xmax <= width and 0 <= ymin < ymax <= height
  clamp,   // cut to [0, width] x [0, height]; Error(data_loss) if nothing is left or a corner is NaN
  tf,      // as it is, mirrored and outside included; Error(data_loss) if a corner is not finite
};

struct BoxOptions {
  BoxPolicy policy = BoxPolicy::strict;  // for boxes that leave the picture or are none

  // Where the annotation came from, for error texts only.
  std::string_view name = {};

  // Where given, counts the boxes that `clamp` has changed.
  std::int64_t* clamped = nullptr;
};

// The boxes for crop_and_resize: y / (height - 1) and x / (width - 1) in double, rounded to float.
// As in ALCF's script the 1-based corners are taken for 0-based ones; so the crop lies one pixel to
// the right and below, and xmax == width samples outside the picture, which gives black columns.
//
// An annotation without objects gives no boxes, hence no crops (TensorFlow's script fails there). A
// picture of width or height 1 cannot be divided: Error(data_loss).
std::vector<image::Box> normalised_boxes(const VocAnnotation& annotation, const BoxOptions& options = {});
// The same into `boxes`, whose memory is used again. After an error it holds anything.
void normalised_boxes(const VocAnnotation& annotation, const BoxOptions& options, std::vector<image::Box>& boxes);

// The same boxes by their edges, in pixels: what VOC writes as 1..10 covers ten pixels, and is 0..10 here. Nothing is
// cut or refused. For image::transform_boxes, whose header has an example.
std::vector<image::PixelBox> pixel_boxes(const VocAnnotation& annotation);

// The files that may hold the annotation of an image, the likeliest first.
//
// Without `folder`, the sibling in ILSVRC's layout: the last path component that is exactly "Data"
// becomes "Annotations", the extension ".xml"; nothing else changes. Without such a component there
// is none.
//
// With `folder`: folder/CLASS/STEM.xml, where CLASS is the image's own folder, then folder/STEM.xml.
//
//   ps::annotation_paths("/d/Data/train/n01/n01_1.JPEG")  ->  ["/d/Annotations/train/n01/n01_1.xml"]
std::vector<std::string> annotation_paths(std::string_view image_path, std::string_view folder = {});

struct AnnotationFile {
  std::string path;
  Tensor xml;  // its bytes, u8 [n]
};

// The first of annotation_paths() that exists; nothing if all are missing.
// Errors of read_file() other than not_found: resource_exhausted for a file of more than `max_bytes`.
std::optional<AnnotationFile> read_annotation(std::string_view image_path, std::string_view folder = {},
                                              std::size_t max_bytes = VocOptions{}.max_bytes);
// The same into `file`, whose path's memory is used again. False: there is none, and `file` holds anything.
bool read_annotation(std::string_view image_path, std::string_view folder, std::size_t max_bytes, AnnotationFile& file);

}  // namespace penstock

#pragma GCC visibility pop
