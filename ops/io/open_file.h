// What all do that read a file of any file system: how it is opened, what it must be, and what is told where that
// fails.
#pragma once

#include <penstock/error.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ops/io/file_system.h"

#pragma GCC visibility push(default)

namespace penstock::io {

// "cannot VERB 'PATH': reason (hint)" with the code that fits the number of errno.
Error file_error(const std::string& verb, const std::string& path, int number);

// Of a file that ended after `got` bytes, and had `expected` when it was opened.
Error shrinking_error(const std::string& path, std::size_t expected, std::size_t got);

// Asks again where the call was interrupted, and for a quarter of a second where descriptors are short: whoever reads
// files beside this one will soon have closed some. Error(invalid_argument) for a path with a NUL in it.
Answer<std::unique_ptr<File>> try_to_open(const FileSystem& files, const std::string& path);

// The same, with each failure as an Error.
std::unique_ptr<File> open_for_reading(const FileSystem& files, const std::string& path);

// All of it, however much one call takes; `path`: for the Error.
void write_all(NewFile& file, std::span<const std::byte> bytes, const std::string& path);

// Error where it cannot be told, or is no regular file.
FileVersion version_of(File& file, const std::string& path);

}  // namespace penstock::io

#pragma GCC visibility pop
