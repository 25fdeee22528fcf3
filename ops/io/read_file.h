// The functions of penstock/io.h that read files, on any file system. They have its errors and its texts.
#pragma once

#include <penstock/error.h>
#include <penstock/io.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "ops/io/file_system.h"

#pragma GCC visibility push(default)

namespace penstock::io {

Tensor read_file(const FileSystem& files, const std::string& path, const ReadFileOptions& options = {});
std::optional<Tensor> read_file_if_there(const FileSystem& files, const std::string& path,
                                         const ReadFileOptions& options = {});
std::span<const std::byte> read_file(const FileSystem& files, const std::string& path, ByteBuffer& buffer,
                                     const ReadFileOptions& options = {});

}  // namespace penstock::io

#pragma GCC visibility pop
