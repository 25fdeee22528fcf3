// Reading whole files.
//
// read_file() opens, sizes, reads and closes: the fastest way for files up to a few megabytes that
// lie in the page cache (10 us, where mmap takes 24 us and istreambuf_iterator 150 us). It blocks,
// so a pipeline calls it from a blocking stage. Every function here may be called from any number
// of threads; a ByteBuffer belongs to one thread at a time.
//
//   ps::Tensor jpeg = ps::read_file("train/n01440764/n01440764_1.JPEG");  // u8 [number of bytes]
//
//   thread_local ps::ByteBuffer buffer;  // or: no allocation once warm
//   std::span<const std::byte> bytes = ps::read_file(path, buffer);
#pragma once

#include <penstock/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {

// Memory that grows and stays, for a loop that needs a block of bytes in each turn. Not copyable.
class ByteBuffer {
 public:
  // Readable bytes behind the last one asked for, so that vector loads may run over the end. Their
  // values are arbitrary.
  static constexpr std::size_t spare = 64;

  // At least `bytes` bytes, uninitialised; what was there before is lost when the buffer has to
  // grow. The pointer holds until the next call. Throws std::bad_alloc.
  std::byte* reserve(std::size_t bytes);

  // The same, but keeps the first `keep` bytes.
  std::byte* grow(std::size_t bytes, std::size_t keep);

  std::byte* data() noexcept { return memory_.get(); }
  std::size_t capacity() const noexcept { return capacity_; }  // without the spare bytes

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
};

struct ReadFileOptions {
  // A larger file is refused with resource_exhausted before memory is taken. Default 1 GiB.
  std::int64_t max_bytes = std::int64_t{1} << 30;
};

// All bytes of a regular file, u8 [n]; n may be 0. ByteBuffer::spare readable bytes follow the last
// one in both forms.
//
// A file that is written to or grows meanwhile (not one that shrinks) is read up to three times, 20 ms apart. So
// what comes is never half old and half new, as far as the file system's time stamps tell (most count
// in ticks of 1 to 10 ms; a network file system's may be older than the file). Where another file takes
// its name, the old one is read to its end. Interrupted calls and short reads go on. Where files or
// descriptors are short (EMFILE, ENFILE) it waits for up to a quarter of a second.
//
// Error: not_found (no such file or folder), permission_denied, resource_exhausted (too many open
// files, max_bytes), invalid_argument (a folder, a pipe, a device, a NUL in the path), unavailable
// (I/O error, or the file shrank or changed while it was read; trying again may help), deadline (a file server
// did not answer). The text names the path and the system's reason.
Tensor read_file(const std::string& path, const ReadFileOptions& options = {});

// The same, but nothing instead of not_found: for a file that may be in one of several places, or nowhere. Much cheaper
// than to catch the error, and one call to a file server rather than the two of exists() and read_file().
//
//   std::optional<ps::Tensor> xml;
//   for (const std::string& folder : folders)
//     if ((xml = ps::read_file_if_there(folder + "/n01440764_1.xml"))) break;
std::optional<Tensor> read_file_if_there(const std::string& path, const ReadFileOptions& options = {});

// The same as read_file() into a buffer that the caller keeps; the result points into it and holds until its next use.
std::span<const std::byte> read_file(const std::string& path, ByteBuffer& buffer, const ReadFileOptions& options = {});

struct ListFilesOptions {
  bool recursive = true;  // also files in folders below, however deep
};

// All files below a folder whose names end with one of the extensions, ".jpg" like ".JPG"; without extensions all
// files. Sorted by the bytes of the whole path, so that the list is the same on each machine; links are followed. (As a
// dataset: list_files() in sources.h.)
//
// Error(not_found) if the folder does not exist or holds no such file, permission_denied and the like if a folder
// cannot be read, invalid_argument for an extension without its dot, and for a link that leads back to a folder it lies
// in. The text names the folder. A million files take some seconds: keep the list (from_file_list).
//
//   std::vector<std::string> pictures = ps::file_paths("photos", {".png", ".jpg"});
std::vector<std::string> file_paths(const std::string& folder, std::vector<std::string> extensions = {},
                                    const ListFilesOptions& options = {});

}  // namespace penstock

#pragma GCC visibility pop
