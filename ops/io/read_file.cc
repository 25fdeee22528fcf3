#include "ops/io/read_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/base/errno_code.h"
#include "lib/base/text.h"
#include "ops/io/open_file.h"

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

namespace io {
namespace {

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
  throw Error(ErrorCode::resource_exhausted, "cannot read " + in_quotes(path) + ": it has " + std::to_string(bytes) +
                                                 " bytes or more, the limit is " + std::to_string(options.max_bytes) +
                                                 " (max_bytes, which may be raised)");
}

// Reads to the end of a file that said it has `expected` bytes. Returns how many bytes now lie in `buffer`.
std::size_t read_to_end(File& file, std::size_t expected, const std::string& path, const ReadFileOptions& options,
                        ByteBuffer& buffer) {
  check_limit(expected, path, options);
  buffer.reserve(expected);
  std::size_t got = 0;
  while (true) {
    // The spare bytes double as the place where one more byte shows that the file has grown.
    const auto [count, error] = file.read({buffer.data() + got, buffer.capacity() + ByteBuffer::spare - got});
    if (error == EINTR) continue;
    if (error != 0) throw file_error("read", path, error);
    if (count == 0) break;
    got += count;
    check_limit(got, path, options);
    if (got > buffer.capacity()) buffer.grow(2 * got, got);
  }
  if (got < expected) throw shrinking_error(path, expected, got);
  return got;
}

// Anew where the file was written to meanwhile: half an old picture and half a new one must not pass for a picture.
std::span<const std::byte> read_in_one_piece(const FileSystem& files, File& file, const std::string& path,
                                             ByteBuffer& buffer, const ReadFileOptions& options) {
  // More than the resolution of time stamps (10 ms): the next write will show.
  constexpr std::chrono::milliseconds pause{20};
  constexpr int most = 3;
  for (int attempt = 1;; ++attempt) {
    const FileVersion before = version_of(file, path);
    const std::size_t got = read_to_end(file, before.size, path, options, buffer);
    if (version_of(file, path) == before) return {buffer.data(), got};  // not before: reading may move the buffer
    if (attempt == most)
      throw Error(ErrorCode::unavailable, "cannot read " + in_quotes(path) + ": it changed while it was read, " +
                                              std::to_string(most) + " times; is something writing it?");
    files.pause(pause);
    if (const int error = file.rewind()) throw file_error("read", path, error);
  }
}

Tensor read_open_file(const FileSystem& files, File& file, const std::string& path, const ReadFileOptions& options) {
  const ThreadBuffer buffer;
  const std::span<const std::byte> bytes = read_in_one_piece(files, file, path, buffer.get(), options);
  std::shared_ptr<std::byte> memory = detail::allocate_payload(bytes.size() + ByteBuffer::spare);
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  return Tensor(DType::u8, {static_cast<std::int64_t>(bytes.size())}, std::move(memory));
}

}  // namespace

Tensor read_file(const FileSystem& files, const std::string& path, const ReadFileOptions& options) {
  return read_open_file(files, *open_for_reading(files, path), path, options);
}

std::optional<Tensor> read_file_if_there(const FileSystem& files, const std::string& path,
                                         const ReadFileOptions& options) {
  const auto [file, error] = try_to_open(files, path);
  if (error != 0 && code_of_errno(error, ErrorCode::unavailable) == ErrorCode::not_found) return std::nullopt;
  if (error != 0) throw file_error("open", path, error);
  return read_open_file(files, *file, path, options);
}

std::span<const std::byte> read_file(const FileSystem& files, const std::string& path, ByteBuffer& buffer,
                                     const ReadFileOptions& options) {
  return read_in_one_piece(files, *open_for_reading(files, path), path, buffer, options);
}

}  // namespace io

Tensor read_file(const std::string& path, const ReadFileOptions& options) {
  return io::read_file(*io::local_file_system(), path, options);
}

std::optional<Tensor> read_file_if_there(const std::string& path, const ReadFileOptions& options) {
  return io::read_file_if_there(*io::local_file_system(), path, options);
}

std::span<const std::byte> read_file(const std::string& path, ByteBuffer& buffer, const ReadFileOptions& options) {
  return io::read_file(*io::local_file_system(), path, buffer, options);
}

}  // namespace penstock
