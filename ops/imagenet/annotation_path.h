// read_annotation() of penstock/voc.h on any file system.
#pragma once

#include <penstock/voc.h>

#include <cstddef>
#include <string_view>

#include "ops/io/file_system.h"

namespace penstock {

bool read_annotation(const io::FileSystem& files, std::string_view image_path, std::string_view folder,
                     std::size_t max_bytes, AnnotationFile& file);

}  // namespace penstock
