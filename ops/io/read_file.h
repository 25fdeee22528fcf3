// The loop behind penstock::read_file, apart from the system so that tests can play a file that misbehaves.
#pragma once

#include <penstock/error.h>
#include <penstock/io.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace penstock::detail {

// read(2): up to n bytes to `to`; the number read, 0 at the end, or -1 with errno set.
using ReadSome = std::function<ssize_t(void* to, std::size_t n)>;

// Reads to the end of a file that said it has `expected` bytes. Returns how many bytes now lie in
// `buffer`. Interrupted and short reads go on; see penstock/io.h for growing and shrinking files
// and the errors.
std::size_t read_to_end(const ReadSome& read_some, std::size_t expected, const std::string& path,
                        const ReadFileOptions& options, ByteBuffer& buffer);

// "cannot VERB 'PATH': reason (hint)" with the code that fits errno value `number`.
Error file_error(const char* verb, const std::string& path, int number);

}  // namespace penstock::detail
