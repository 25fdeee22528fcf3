// The port to files. Whatever the library reads of a user's files it reads through a FileSystem: so tests can play one
// that fails, and something else than this machine's disks can stand in its place.
//
//   local_file_system()                  this machine's
//   tests/support/fake_file_system.h     in memory, with faults
//
// A function is a call of the system, and nothing around it. What a short or an interrupted call means, and what users
// read of one that has failed, is for those who call, so that it is the same wherever the files are: read_file.h,
// list_files.h.
#pragma once

#include <penstock/detail/pooled.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::io {

// What a call gave, or why it failed.
template <class T> struct Answer {
  T value = {};
  int error = 0;  // as errno has it; 0: none
};

// What tells whether a file was written to, as far as the file system does.
struct FileVersion {
  std::size_t size = 0;
  std::int64_t written_s = 0,
               written_ns = 0;  // seconds and the rest: in nanoseconds alone, years beyond 2262 would not fit
  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

enum class FileKind : std::uint8_t { regular, folder, other };  // other: a pipe, a socket, a device

struct FileStatus {
  FileKind kind = FileKind::regular;
  FileVersion version;
};

// A file that is open for reading; its destructor closes it. For one thread at a time.
class File {
 public:
  File() = default;
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  // One for each file that is read: its memory is used again.
  static void* operator new(std::size_t bytes) { return detail::take_pooled(bytes); }
  static void operator delete(void* at, std::size_t bytes) noexcept { detail::give_back_pooled(at, bytes); }

  virtual Answer<FileStatus> status() = 0;  // fstat(2)
  // read(2): may give less than there is room for; 0: the end
  virtual Answer<std::size_t> read(std::span<std::byte> to) = 0;
  virtual int rewind() = 0;  // lseek(2) to the beginning. The error's number, 0 for none
  // lseek(2). ESPIPE where there is only one place after the other
  virtual int seek(std::size_t) { return ESPIPE; }
  // pread(2): from a place, whatever was read before. Of this machine's files several threads at once may do so, and
  // processes that share the file; the others are left standing behind it.
  virtual Answer<std::size_t> read_at(std::size_t place, std::span<std::byte> to) {
    if (const int error = seek(place)) return {.error = error};
    return read(to);
  }
};

// A file that is being written. Nobody reads it before publish(); what was not published is gone with its destructor.
// For one thread at a time.
class NewFile {
 public:
  NewFile() = default;
  virtual ~NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  virtual Answer<std::size_t> write(std::span<const std::byte> bytes) = 0;  // write(2): may take less than all
  virtual int publish() = 0;  // once: on the disk, and then at its path, in place of what was there, in one step
};

struct FolderEntry {
  std::string name;        // without the folder's
  bool is_folder = false;  // or a link to one
  bool is_link = false;    // a symbolic one
};

// Any thread may call it. It outlives the files that it has opened.
class FileSystem {
 public:
  virtual Answer<std::unique_ptr<File>> open(
      const std::string& path) const = 0;                                // open(2); does not wait for a pipe's writer
  virtual Answer<FileStatus> status(const std::string& path) const = 0;  // stat(2): of what a link leads to
  virtual Answer<std::vector<FolderEntry>> list(
      const std::string& folder) const = 0;                                  // without "." and "..", in any order
  virtual Answer<std::string> real_path(const std::string& path) const = 0;  // realpath(3)
  virtual int replace(const std::string& path,
                      std::span<const std::byte> bytes) const = 0;  // the whole file in one step, or not at all
  // A new file for this path, which is at "PATH.part" until it is published. One owner alone, of all processes, writes
  // it: EWOULDBLOCK while there is another. What an owner has left that was killed is written anew.
  // EROFS where files are only read.
  virtual Answer<std::unique_ptr<NewFile>> create(const std::string&) const { return {.error = EROFS}; }
  virtual int make_folder(const std::string&) const { return EROFS; }  // mkdir(2)
  virtual void pause(std::chrono::milliseconds time) const = 0;        // lets time pass before another try

 protected:
  ~FileSystem() = default;  // nobody destroys one that he sees as this
};
using FileSystemRef = std::shared_ptr<const FileSystem>;

// Lives until the process ends.
FileSystemRef local_file_system() noexcept;

}  // namespace penstock::io

#pragma GCC visibility pop
