#include "ops/io/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "lib/base/errno_code.h"
#include "lib/base/text.h"

namespace penstock {

std::byte* ByteBuffer::reserve(std::size_t bytes) { return grow(bytes, 0); }

std::byte* ByteBuffer::grow(std::size_t bytes, std::size_t keep) {
  if (memory_ && bytes <= capacity_) return memory_.get();
  // Half as much again, so that slowly growing sizes do not mean an allocation for each file.
  const std::size_t capacity = std::max(bytes, capacity_ + capacity_ / 2);
  auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity + spare);
  if (keep > 0) std::memcpy(larger.get(), memory_.get(), keep);
  memory_ = std::move(larger);
  capacity_ = capacity;
  return memory_.get();
}

namespace detail {
namespace {

const char* hint_of_errno(int number) {
  switch (number) {
    case EMFILE:
      return " (raise the limit with 'ulimit -n', or read fewer at once: RunOptions::open_io)";
    case EIO:
    case ESTALE:
      return " (a fault of the disk or network file system; try again, or copy the file)";
    case ENOENT:
    case ENOTDIR:
      return " (check the path)";
    case EACCES:
    case EPERM:
      return " (let this user read the file and enter its folders)";
    case EISDIR:
      return " (it is a folder: give a file)";
    case ELOOP:
      return " (its links lead in a circle)";
    case ENAMETOOLONG:
      return " (is it a list of paths without line ends?)";
    default:
      return "";
  }
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() { ::close(number_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

void sleep(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

// -1 with errno set.
int try_to_open(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    throw Error(ErrorCode::invalid_argument,
                "cannot open " + in_quotes(path) + ": the path contains a NUL; is the list a text file?");
  // O_NONBLOCK: opening a pipe must not wait for a writer; it means nothing for regular files.
  return open_with_patience([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }, sleep);
}

int open_for_reading(const std::string& path) {
  const int number = try_to_open(path);
  if (number < 0) throw file_error("open", path, errno);
  return number;
}

// This thread's buffer, for one call. Beyond this size it is not kept: a thread that has met one
// huge file must not hold that much for good.
class ThreadBuffer {
 public:
  ThreadBuffer() = default;
  ~ThreadBuffer() {
    if (buffer_.capacity() > largest_kept) buffer_ = ByteBuffer();
  }
  ThreadBuffer(const ThreadBuffer&) = delete;
  ThreadBuffer& operator=(const ThreadBuffer&) = delete;
  ByteBuffer& get() const { return buffer_; }

 private:
  static constexpr std::size_t largest_kept = std::size_t{16} << 20;

  static ByteBuffer& of_thread() {
    thread_local ByteBuffer buffer;
    return buffer;
  }

  ByteBuffer& buffer_ = of_thread();
};

void check_limit(std::size_t bytes, const std::string& path, const ReadFileOptions& options) {
  if (bytes <= static_cast<std::size_t>(std::max<std::int64_t>(options.max_bytes, 0))) return;
  throw Error(ErrorCode::resource_exhausted,
              "cannot read " + in_quotes(path) + ": it has " + std::to_string(bytes) +
                  " bytes or more, the limit is " + std::to_string(options.max_bytes) +
                  " (max_bytes, which may be raised)");
}

}  // namespace

Error file_error(const char* verb, const std::string& path, int number) {
  // What a file system says beyond the usual is its own trouble.
  return Error(code_of_errno(number, ErrorCode::unavailable),
               std::string("cannot ") + verb + " " + in_quotes(path) + ": " + std::generic_category().message(number) + hint_of_errno(number));
}

FileVersion version_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw file_error("inspect", path, errno);
  if (S_ISDIR(status.st_mode)) throw file_error("read", path, EISDIR);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::invalid_argument,
                "cannot read " + in_quotes(path) + ": not a regular file, but a pipe, socket or device; give a file");
  return {.size = static_cast<std::size_t>(status.st_size),
          .written_s = status.st_mtim.tv_sec,
          .written_ns = status.st_mtim.tv_nsec};
}

int open_with_patience(const std::function<int()>& open_file, const Wait& wait) {
  constexpr std::chrono::milliseconds longest{128};
  for (std::chrono::milliseconds pause{1};;) {
    const int number = open_file();
    if (number >= 0 || (errno != EINTR && errno != EMFILE && errno != ENFILE)) return number;
    if (errno == EINTR) continue;
    if (pause > longest) return number;
    wait(std::exchange(pause, 2 * pause));
  }
}

std::size_t read_in_one_piece(const std::function<FileVersion()>& look, const std::function<std::size_t(std::size_t)>& read,
                              const std::string& path, const Wait& wait) {
  // More than the resolution of time stamps (10 ms): the next write will show.
  constexpr std::chrono::milliseconds pause{20};
  constexpr int most = 3;
  for (int attempt = 1;; ++attempt) {
    const FileVersion before = look();
    const std::size_t got = read(before.size);
    if (look() == before) return got;
    if (attempt == most)
      throw Error(ErrorCode::unavailable, "cannot read " + in_quotes(path) + ": it changed while it was read, " +
                                              std::to_string(most) + " times; is something writing it?");
    wait(pause);
  }
}

std::size_t read_to_end(const ReadSome& read_some, std::size_t expected, const std::string& path,
                        const ReadFileOptions& options, ByteBuffer& buffer) {
  check_limit(expected, path, options);
  buffer.reserve(expected);
  std::size_t got = 0;
  while (true) {
    // The spare bytes double as the place where one more byte shows that the file has grown.
    const ssize_t n = read_some(buffer.data() + got, buffer.capacity() + ByteBuffer::spare - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw file_error("read", path, errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
    check_limit(got, path, options);
    if (got > buffer.capacity()) buffer.grow(2 * got, got);
  }
  if (got < expected)
    throw Error(ErrorCode::unavailable,
                "cannot read " + in_quotes(path) + ": it shrank from " + std::to_string(expected) + " to " +
                    std::to_string(got) + " bytes while it was read; is something writing it?");
  return got;
}

namespace {

std::span<const std::byte> read_open_file(const FileDescriptor& file, const std::string& path, ByteBuffer& buffer,
                                          const ReadFileOptions& options) {
  const auto read_some = [fd = file.get()](void* to, std::size_t n) { return ::read(fd, to, n); };
  bool again = false;
  auto read = [&](std::size_t expected) {
    if (std::exchange(again, true) && ::lseek(file.get(), 0, SEEK_SET) != 0) throw file_error("read", path, errno);
    return read_to_end(read_some, expected, path, options, buffer);
  };
  const auto look = [&] { return version_of(file.get(), path); };
  const std::size_t got = read_in_one_piece(look, std::ref(read), path, sleep);  // by reference: no memory is needed to pass it
  return {buffer.data(), got};  // not before: reading may move the buffer
}

Tensor read_open_file(const FileDescriptor& file, const std::string& path, const ReadFileOptions& options) {
  const ThreadBuffer buffer;
  const std::span<const std::byte> bytes = read_open_file(file, path, buffer.get(), options);
  std::shared_ptr<std::byte> memory = allocate_payload(bytes.size() + ByteBuffer::spare);
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  return Tensor(DType::u8, {static_cast<std::int64_t>(bytes.size())}, std::move(memory));
}

}  // namespace

}  // namespace detail

std::span<const std::byte> read_file(const std::string& path, ByteBuffer& buffer,
                                     const ReadFileOptions& options) {
  return detail::read_open_file(detail::FileDescriptor(detail::open_for_reading(path)), path, buffer, options);
}

Tensor read_file(const std::string& path, const ReadFileOptions& options) {
  return detail::read_open_file(detail::FileDescriptor(detail::open_for_reading(path)), path, options);
}

std::optional<Tensor> read_file_if_there(const std::string& path, const ReadFileOptions& options) {
  const int number = detail::try_to_open(path);
  if (number < 0 && code_of_errno(errno, ErrorCode::unavailable) == ErrorCode::not_found) return std::nullopt;
  if (number < 0) throw detail::file_error("open", path, errno);
  return detail::read_open_file(detail::FileDescriptor(number), path, options);
}

}  // namespace penstock
