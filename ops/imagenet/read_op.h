// The blocking half of the ImageNet pipelines: path -> bytes of the JPEG and of its annotation.
#pragma once

#include <penstock/detail/pooled.h>
#include <penstock/imagenet.h>
#include <penstock/op.h>

#include <memory>
#include <optional>

namespace penstock::imagenet {

// What goes from the reading to the computing map.
struct LoadedAnnotation {
  detail::PooledString path;
  Tensor xml;  // u8 [bytes]
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
  all,
  where_path_has_no_label,  // for the first object's name
};

// std::string -> LoadedFile.
OpRef read_op(std::shared_ptr<const Config> config, Annotations annotations);

}  // namespace penstock::imagenet
