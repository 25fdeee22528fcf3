// A file system in memory, for the port of ops/io/file_system.h: it fails where a test wants it to.
//
//   const auto files = std::make_shared<test::FakeFileSystem>();
//   files->add("/data/a.jpg", bytes);
//   files->fail("/data/a.jpg", {.read = EIO, .after = 4096});
//   io::read_file(*files, "/data/a.jpg")        throws
//   files->calls()                              "open /data/a.jpg", "status", "read", "read", "close"
//
// Nothing here decides what a fault means: it gives what the system would have given. Any thread may use it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lib/base/mutex.h"
#include "ops/io/file_system.h"

namespace penstock::test {

// Of one path, each time that it is asked for. Error numbers are errno's; 0: none.
struct Faults {
  int open = 0, status = 0, read = 0, rewind = 0;  // of a file; its status while it is open
  int list = 0, real_path = 0;                     // of a folder; what was found before is given beside the error
  int replace = 0;
  int create = 0, write = 0, publish = 0;  // of a new file
  int times = 0;                           // so often in a row for each kind of call, then once not; 0: always
  std::size_t after = 0;                   // `read` and `write` fail behind so many bytes
  std::size_t at_once = std::numeric_limits<std::size_t>::max();  // read: bytes at most

  // Between two reads, when half of what the file had as it was opened is given; again, if it is read again.
  std::function<void()> half_way = nullptr;
};

class FakeFileSystem final : public io::FileSystem {
 public:
  // A file, and the folders above it. Whoever has another one of that name open keeps that.
  void add(const std::string& path, std::string bytes) EXCLUDES(mutex_);
  void add(const std::string& path, io::FileKind kind) EXCLUDES(mutex_);
  // In place: whoever has the file open sees it.
  void overwrite(const std::string& path, std::string bytes) EXCLUDES(mutex_);
  // Replaces what was said of the path before. The path need not be there.
  void fail(const std::string& path, Faults faults) EXCLUDES(mutex_);

  std::string bytes_of(const std::string& path) const EXCLUDES(mutex_);  // throws if there is no such file
  // What was asked for, in order: "open PATH", "status", "status PATH", "read", "rewind", "close", "list PATH", "pause
  // 20".
  std::vector<std::string> calls() const EXCLUDES(mutex_);

  io::Answer<std::unique_ptr<io::File>> open(const std::string& path) const override EXCLUDES(mutex_);
  io::Answer<io::FileStatus> status(const std::string& path) const override EXCLUDES(mutex_);
  io::Answer<std::vector<io::FolderEntry>> list(const std::string& folder) const override EXCLUDES(mutex_);
  io::Answer<std::string> real_path(const std::string& path) const override EXCLUDES(mutex_);
  int replace(const std::string& path, std::span<const std::byte> bytes) const override EXCLUDES(mutex_);
  io::Answer<std::unique_ptr<io::NewFile>> create(const std::string& path) const override EXCLUDES(mutex_);
  void pause(std::chrono::milliseconds time) const override EXCLUDES(mutex_);  // none passes

 private:
  class OpenFile;
  class UnpublishedFile;

  // What a path leads to, or led to when it was opened.
  struct Node {
    io::FileKind kind = io::FileKind::regular;
    std::string bytes = {};
    std::int64_t written = 0;  // a number of its own for each writing
  };
  using NodeRef = std::shared_ptr<Node>;

  io::FileStatus status_of(const Node& node) const REQUIRES(mutex_);
  // The error of this call: `number`, if its turn has come.
  int fault(const std::string& path, const char* call, int Faults::*number) const REQUIRES(mutex_);
  const Faults& faults_of(const std::string& path) const REQUIRES(mutex_);
  void put(const std::string& path, Node node) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  mutable std::map<std::string, NodeRef> nodes_ GUARDED_BY(mutex_);
  std::map<std::string, Faults> faults_ GUARDED_BY(mutex_);
  mutable std::map<std::string, int> turns_ GUARDED_BY(mutex_);  // calls of a kind for a path
  mutable std::set<std::string> owned_ GUARDED_BY(mutex_);       // paths for which somebody writes
  mutable std::vector<std::string> calls_ GUARDED_BY(mutex_);
  mutable std::int64_t writings_ GUARDED_BY(mutex_) = 0;
};

}  // namespace penstock::test
