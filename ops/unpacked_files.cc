#include "ops/unpacked_files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace penstock::ops {
namespace {

using io::Answer, io::File, io::FileStatus;

constexpr std::size_t kChunk = 32 << 10;  // of what is packed
constexpr std::array kMagic{std::byte{0x1f}, std::byte{0x8b}};
constexpr int kMostIdle = 64;   // steps without a byte, as through zeros: then others look whether more is wanted
constexpr int kGzip = 15 + 16;  // inflateInit2(): the largest window, and gzip's headers alone

// Leaves the file at its beginning. Where nothing can be read, whoever reads on will find out.
Answer<bool> is_packed(File& file) {
  std::array<std::byte, kMagic.size()> head{};
  auto got = file.read_at(0, head);
  while (got.error == EINTR) got = file.read_at(0, head);
  if (got.error != 0 || got.value == 0) return {};
  return {.value = got.value == head.size() && head == kMagic, .error = file.rewind()};
}

class UnpackedFile final : public File {
 public:
  static Answer<std::unique_ptr<File>> open(std::unique_ptr<File> packed) {
    auto file = std::make_unique<UnpackedFile>(std::move(packed));
    if (inflateInit2(&file->stream_, kGzip) != Z_OK) return {.error = ENOMEM};
    file->is_begun_ = true;
    return {.value = std::move(file)};
  }
  explicit UnpackedFile(std::unique_ptr<File> packed) : packed_(std::move(packed)) {}
  ~UnpackedFile() override {
    if (is_begun_) inflateEnd(&stream_);
  }

  Answer<FileStatus> status() override {
    auto status = packed_->status();
    status.value.version.size = 0;
    return status;
  }
  int rewind() override {
    stream_.avail_in = 0;
    state_ = State::inside;
    error_ = 0;
    inflateReset(&stream_);
    return packed_->rewind();
  }
  Answer<std::size_t> read(std::span<std::byte> to) override {
    to = to.first(std::min<std::size_t>(to.size(), 1U << 30));  // zlib counts in 32 bits
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = static_cast<uInt>(to.size());
    for (int idle = 0; idle < kMostIdle; ++idle) {
      const std::size_t count = to.size() - stream_.avail_out;
      if (count > 0 || to.empty() || state_ == State::ended) return {.value = count};
      if (error_ != 0) return {.error = std::exchange(error_, 0)};
      error_ = unpack_some();  // told when what came with it has been given
    }
    return {.error = EINTR};
  }

 private:
  enum class State { inside, between, ended };  // of the parts that gzip has packed

  int unpack_some() {
    if (stream_.avail_in == 0) return read_more();
    if (state_ == State::between) return begin_another();
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) state_ = State::between;
    if (result == Z_MEM_ERROR) return ENOMEM;
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR ? 0 : EBADMSG;
  }
  int read_more() {
    const auto [count, error] = packed_->read(chunk_);
    if (error != 0) return error;
    if (count == 0 && state_ == State::inside) return EBADMSG;
    if (count == 0) state_ = State::ended;
    stream_.next_in = reinterpret_cast<Bytef*>(chunk_.data());
    stream_.avail_in = static_cast<uInt>(count);
    return 0;
  }
  // Behind a part: zeros are left out, and what is no other part is told by inflate().
  int begin_another() {
    const std::span rest(stream_.next_in, stream_.avail_in);
    const auto zeros =
        static_cast<uInt>(std::ranges::find_if(rest, [](Bytef byte) { return byte != 0; }) - rest.begin());
    stream_.next_in += zeros;
    stream_.avail_in -= zeros;
    if (stream_.avail_in == 0) return 0;
    state_ = State::inside;
    return inflateReset(&stream_) == Z_OK ? 0 : EBADMSG;
  }

  const std::unique_ptr<File> packed_;
  z_stream stream_{};
  bool is_begun_ = false;
  State state_ = State::inside;
  int error_ = 0;  // that has not been told yet
  std::array<std::byte, kChunk> chunk_;
};

class UnpackedFiles final : public io::FileSystem {
 public:
  explicit UnpackedFiles(io::FileSystemRef packed) : packed_(std::move(packed)) {}

  Answer<std::unique_ptr<File>> open(const std::string& path) const override {
    auto opened = packed_->open(path);
    if (opened.error != 0) return opened;
    const auto [packed, error] = is_packed(*opened.value);
    if (error != 0) return {.error = error};
    return packed ? UnpackedFile::open(std::move(opened.value)) : std::move(opened);
  }
  Answer<FileStatus> status(const std::string& path) const override { return packed_->status(path); }
  Answer<std::vector<io::FolderEntry>> list(const std::string& folder) const override { return packed_->list(folder); }
  Answer<std::string> real_path(const std::string& path) const override { return packed_->real_path(path); }
  int replace(const std::string&, std::span<const std::byte>) const override { return EROFS; }
  void pause(std::chrono::milliseconds time) const override { packed_->pause(time); }

 private:
  const io::FileSystemRef packed_;
};

}  // namespace

io::FileSystemRef unpacked(io::FileSystemRef packed) { return std::make_shared<UnpackedFiles>(std::move(packed)); }

}  // namespace penstock::ops
