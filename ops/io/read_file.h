// The loop behind penstock::read_file, apart from the system so that tests can play a file that misbehaves.
#pragma once

#include <penstock/error.h>
#include <penstock/io.h>
#include <sys/types.h>

#include <chrono>
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

// Lets time pass: std::this_thread::sleep_for, but for tests.
using Wait = std::function<void(std::chrono::milliseconds)>;

// What `open_file` gives: a descriptor, or -1 with errno set. It is asked again when it was interrupted, and for a quarter of a
// second where descriptors are short: whoever reads files beside this one will soon have closed some.
int open_with_patience(const std::function<int()>& open_file, const Wait& wait);

// What tells whether a file was written to, as far as the file system does.
struct FileVersion {
  std::size_t size = 0;
  std::int64_t written_s = 0, written_ns = 0;  // seconds and the rest: in nanoseconds alone, years beyond 2262 would not fit
  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

// That of an open file. Error where it is no regular one, or cannot be asked.
FileVersion version_of(int descriptor, const std::string& path);

// Reads by read(size), anew where the file was written to meanwhile: half an old picture and half a new one must not pass for a
// picture. Error(unavailable) the third time. Returns what `read` gave.
std::size_t read_in_one_piece(const std::function<FileVersion()>& look, const std::function<std::size_t(std::size_t)>& read,
                              const std::string& path, const Wait& wait);

// "cannot VERB 'PATH': reason (hint)" with the code that fits errno value `number`.
Error file_error(const char* verb, const std::string& path, int number);

}  // namespace penstock::detail
