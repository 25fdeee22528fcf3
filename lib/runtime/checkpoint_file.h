// The functions of penstock/checkpoint_file.h, on any file system.
#pragma once

#include <memory>
#include <string>

#include <penstock/checkpoint.h>

#include "ops/io/file_system.h"

namespace penstock::runtime {

void save_checkpoint(const io::FileSystem& files, const std::string& path, const Checkpoint& checkpoint);
std::shared_ptr<const Checkpoint> load_checkpoint(const io::FileSystem& files, const std::string& path);

}  // namespace penstock::runtime
