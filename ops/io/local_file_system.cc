#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "ops/io/file_system.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const noexcept { return number_; }

 private:
  int number_;
};

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::regular;
  return S_ISDIR(mode) ? FileKind::folder : FileKind::other;
}

// What a call of stat(2) or fstat(2) has given.
Answer<FileStatus> answer_of(int result, const struct stat& status) {
  if (result != 0) return {.error = errno};
  const FileVersion version{.size = static_cast<std::size_t>(status.st_size),
                            .written_s = status.st_mtim.tv_sec,
                            .written_ns = status.st_mtim.tv_nsec};
  return {.value = {.kind = kind_of(status.st_mode), .version = version}};
}

class LocalFile final : public File {
 public:
  explicit LocalFile(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  Answer<FileStatus> status() override {
    struct stat status {};
    return answer_of(::fstat(descriptor_.get(), &status), status);
  }

  Answer<std::size_t> read(std::span<std::byte> to) override {
    const ssize_t got = ::read(descriptor_.get(), to.data(), to.size());
    if (got < 0) return {.error = errno};
    return {.value = static_cast<std::size_t>(got)};
  }

  Answer<std::size_t> read_at(std::size_t place, std::span<std::byte> to) override {
    const ssize_t got = ::pread(descriptor_.get(), to.data(), to.size(), static_cast<off_t>(place));
    if (got < 0) return {.error = errno};
    return {.value = static_cast<std::size_t>(got)};
  }

  int rewind() override { return seek(0); }
  int seek(std::size_t place) override {
    return ::lseek(descriptor_.get(), static_cast<off_t>(place), SEEK_SET) >= 0 ? 0 : errno;
  }

 private:
  Descriptor descriptor_;
};

// 0, or the error's number.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return 0;
}

// Whether the path still leads to this file: whoever owned it may have published it, or given it up.
bool is_at(const std::string& path, int descriptor) {
  struct stat here {};
  struct stat there {};
  return ::fstat(descriptor, &here) == 0 && ::stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

// What a rename has changed is in the folder.
int sync_folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const Descriptor descriptor(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return descriptor.get() >= 0 && ::fsync(descriptor.get()) == 0 ? 0 : errno;
}

class LocalNewFile final : public NewFile {
 public:
  // `part`: its name until it is published. The lock on it goes with the descriptor, also of a process that is killed.
  LocalNewFile(Descriptor descriptor, std::string part, std::string path)
      : descriptor_(std::move(descriptor)), part_(std::move(part)), path_(std::move(path)) {}
  ~LocalNewFile() override {
    if (!part_.empty() && is_at(part_, descriptor_.get())) ::unlink(part_.c_str());
  }

  Answer<std::size_t> write(std::span<const std::byte> bytes) override {
    const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
    if (written < 0) return {.error = errno};
    return {.value = static_cast<std::size_t>(written)};
  }

  int publish() override {
    if (!is_at(part_, descriptor_.get())) return ESTALE;  // somebody has removed it, and what is there now is another's
    if (::fsync(descriptor_.get()) != 0 || std::rename(part_.c_str(), path_.c_str()) != 0) return errno;
    part_.clear();
    return sync_folder_of(path_);
  }

 private:
  const Descriptor descriptor_;
  std::string part_;
  const std::string path_;
};

class LocalFileSystem final : public FileSystem {
 public:
  Answer<std::unique_ptr<File>> open(const std::string& path) const override {
    // O_NONBLOCK: opening a pipe must not wait for a writer; it means nothing for regular files.
    Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (descriptor.get() < 0) return {.error = errno};
    return {.value = std::make_unique<LocalFile>(std::move(descriptor))};
  }

  Answer<FileStatus> status(const std::string& path) const override {
    struct stat status {};
    return answer_of(::stat(path.c_str(), &status), status);
  }

  Answer<std::vector<FolderEntry>> list(const std::string& folder) const override {
    Answer<std::vector<FolderEntry>> answer;
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
      std::error_code ignored;  // of a link to itself or to nothing: it is no folder
      answer.value.push_back({.name = at->path().filename().string(),
                              .is_folder = at->is_directory(ignored),
                              .is_link = at->is_symlink(ignored)});
    }
    answer.error = error.value();
    return answer;
  }

  Answer<std::string> real_path(const std::string& path) const override {
    std::error_code error;
    std::string real = fs::canonical(path, error).string();
    return {.value = std::move(real), .error = error.value()};
  }

  int replace(const std::string& path, std::span<const std::byte> bytes) const override {
    std::string next = path + ".XXXXXX";
    const int descriptor = ::mkstemp(next.data());
    if (descriptor < 0) return errno;
    int error = write_all(descriptor, bytes);
    if (::close(descriptor) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(next.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) ::unlink(next.c_str());
    return error;
  }

  Answer<std::unique_ptr<NewFile>> create(const std::string& path) const override {
    std::string part = path + ".part";
    for (;;) {
      Descriptor descriptor(::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
      if (descriptor.get() < 0 || ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) return {.error = errno};
      if (!is_at(part, descriptor.get())) continue;
      if (::ftruncate(descriptor.get(), 0) != 0) return {.error = errno};
      return {.value = std::make_unique<LocalNewFile>(std::move(descriptor), std::move(part), path)};
    }
  }

  int make_folder(const std::string& path) const override { return ::mkdir(path.c_str(), 0777) == 0 ? 0 : errno; }

  void pause(std::chrono::milliseconds time) const override { std::this_thread::sleep_for(time); }
};

constinit const LocalFileSystem local;
static_assert(std::is_trivially_destructible_v<LocalFileSystem>);  // threads may read files until the process ends

}  // namespace

// Owns nothing, so it costs no counting.
FileSystemRef local_file_system() noexcept { return {FileSystemRef(), &local}; }

}  // namespace penstock::io
