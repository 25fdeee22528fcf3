// The blocking half of the ImageNet pipelines: path -> bytes of the JPEG and of its annotation.
#pragma once

#include <penstock/detail/pooled.h>
#include <penstock/imagenet.h>
#include <penstock/op.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ops/io/file_system.h"

namespace penstock::imagenet {

// What an annotation says, in the form that the crops need.
struct Boxes {
  std::vector<image::Box, detail::PooledAllocator<image::Box>> boxes;
  detail::PooledString first_name;  // of the first object; empty if there is none
  std::int64_t clamped = 0;
};

// What goes from the reading to the computing map.
struct LoadedAnnotation {
  detail::PooledString path;
  Tensor xml;                  // u8 [bytes]; empty where `boxes` say it all
  std::optional<Boxes> boxes;  // none: they are not needed, or the XML is wrong, which the computing map then reports
};
struct LoadedFile {
  detail::PooledString path;
  Tensor jpeg;                                 // u8 [bytes]
  std::optional<LoadedAnnotation> annotation;  // none: the file has none, or it is not needed
};

// For bytes.h: what is in flight between the two maps.
std::size_t bytes_of(const LoadedFile& file);

// Which files need their XML.
enum class Annotations : std::uint8_t {
  all,                      // with their boxes as crops need them
  all_as_they_are,          // the XML, for the computing map
  where_path_has_no_label,  // for the first object's name; none where Config::label_of tells the label
};

// What the XML says. Errors of parse_voc() and normalised_boxes().
Boxes boxes_of(const LoadedAnnotation& annotation, const Config& config);
// The object in memory of this thread, until the next call. Errors of parse_voc().
const VocAnnotation& parsed(const LoadedAnnotation& annotation, const Config& config);

// std::string -> LoadedFile; for Annotations::all with their boxes, so that their number is known before the file is
// decoded.
OpRef read_op(std::shared_ptr<const Config> config, Annotations annotations,
              io::FileSystemRef files = io::local_file_system());

}  // namespace penstock::imagenet
