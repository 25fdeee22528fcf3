// file_paths() of penstock/io.h on any file system, with its errors and its texts.
#pragma once

#include <penstock/io.h>

#include <string>
#include <vector>

#include "ops/io/file_system.h"

#pragma GCC visibility push(default)

namespace penstock::io {

std::vector<std::string> file_paths(const FileSystem& files, const std::string& folder,
                                    std::vector<std::string> extensions = {}, const ListFilesOptions& options = {});

// The names of the folders right below this one, and of links to folders, in any order. Error where it cannot be
// listed, as file_paths().
std::vector<std::string> folder_names(const FileSystem& files, const std::string& folder);

}  // namespace penstock::io

#pragma GCC visibility pop
