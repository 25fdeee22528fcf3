#include "ops/cache_file.h"

#include <penstock/error.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "lib/base/text.h"
#include "lib/base/type_name.h"
#include "lib/core/byte_count.h"
#include "lib/core/crc32.h"
#include "ops/io/open_file.h"

namespace penstock::ops {
namespace {

constexpr std::string_view kBegin = "PENSTCCH", kEnd = "PENSTEND";
constexpr std::uint32_t kVersion = 1, kByteOrder = 0x01020304;
constexpr std::size_t kHeaderBytes = 16, kTrailerBytes = 24;
constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kRecordBytes = 26;   // of an element, before its value
constexpr std::size_t kIndexedBytes = 20;  // of a block in the index

using Bytes = std::vector<std::byte>;

std::uint32_t checksum_of(std::span<const std::byte> bytes) {
  return crc32({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool is_at(std::span<const std::byte> bytes, std::size_t place, std::string_view text) {
  return std::memcmp(bytes.data() + place, text.data(), text.size()) == 0;
}

template <class Number> Number number_at(std::span<const std::byte> bytes, std::size_t place) {
  Number number;
  std::memcpy(&number, bytes.data() + place, sizeof(number));
  return number;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::data_loss, in_quotes(path) + " is damaged: " + what);
}

// What can never get its name is told before hours of work, and not when they are done.
std::unique_ptr<io::NewFile> create(const io::FileSystem& files, const std::string& path) {
  if (path.empty()) throw io::file_error("create", path, ENOENT);
  if (files.status(path).value.kind == io::FileKind::folder) throw io::file_error("create", path, EISDIR);
  auto answer = files.create(path);
  if (answer.error == EWOULDBLOCK)
    throw Error(ErrorCode::failed_precondition, in_quotes(path) + " is being written by somebody else");
  if (answer.error != 0) throw io::file_error("create", path, answer.error);
  return std::move(answer.value);
}

}  // namespace

// ------------------------------------------------------------------------------------------------ writing

CacheFileWriter::CacheFileWriter(const io::FileSystem& files, const std::string& path, const std::type_info& type,
                                 std::int64_t most_bytes)
    : path_(path),
      type_(type_name(type)),
      most_bytes_(most_bytes > 0 ? static_cast<std::uint64_t>(most_bytes) : std::numeric_limits<std::uint64_t>::max()),
      file_(create(files, path)) {
  Bytes header;
  ByteWriter to(header);
  to.bytes(kBegin.data(), kBegin.size());
  to.write(kVersion);
  to.write(kByteOrder);
  write(header);
}

void CacheFileWriter::add(const Slot& slot, const detail::ElementCodec& codec) {
  const std::size_t begin = block_.size();
  ByteWriter to(block_);
  to.write(slot.stamp.ordinal);
  to.write(slot.stamp.sub);
  to.write(static_cast<std::uint16_t>(slot.stamp.source));
  to.write(std::uint64_t{0});
  codec.write(slot.value, to);
  const std::uint64_t bytes = block_.size() - begin - kRecordBytes;
  std::memcpy(block_.data() + begin + kRecordBytes - sizeof(bytes), &bytes, sizeof(bytes));
  ++elements_;
  if (block_.size() >= kBlockBytes) flush();
}

void CacheFileWriter::flush() {
  if (elements_ == 0) return;
  blocks_.push_back({.bytes = block_.size(), .elements = std::exchange(elements_, 0), .checksum = checksum_of(block_)});
  write(block_);
  block_.clear();
}

void CacheFileWriter::publish() {
  flush();
  Bytes index;
  ByteWriter to(index);
  to.write(type_);
  to.write(std::uint64_t{blocks_.size()});
  for (const CacheBlock& block : blocks_) {
    to.write(block.bytes);
    to.write(block.elements);
    to.write(block.checksum);
  }
  const std::uint64_t bytes = index.size();
  const std::uint32_t checksum = checksum_of(index);
  to.write(bytes);
  to.write(checksum);
  to.write(checksum_of(std::span(index).last(sizeof(bytes) + sizeof(checksum))));
  to.bytes(kEnd.data(), kEnd.size());
  write(index);
  if (const int error = file_->publish()) throw io::file_error("write", path_, error);
}

void CacheFileWriter::write(std::span<const std::byte> bytes) {
  written_ += bytes.size();
  if (written_ > most_bytes_)
    throw Error(ErrorCode::resource_exhausted,
                in_quotes(path_) + " would be larger than " + format_bytes(most_bytes_) + " (CacheOptions::max_bytes)");
  io::write_all(*file_, bytes, path_);
}

// ------------------------------------------------------------------------------------------------ reading

namespace {

// One that is open, by its place.
class PlacedFile {
 public:
  PlacedFile(io::File& file, const std::string& path) : file_(file), path_(path) {}
  void read(std::size_t place, std::span<std::byte> to) {
    while (!to.empty()) {
      const auto [count, error] = file_.read_at(place, to);
      if (error == EINTR) continue;
      if (error != 0) throw io::file_error("read", path_, error);
      if (count == 0) fail(path_, "it ends too early");
      to = to.subspan(count);
      place += count;
    }
  }

 private:
  io::File& file_;
  const std::string& path_;
};

void check_header(PlacedFile file, const std::string& path) {
  Bytes header(kHeaderBytes);
  file.read(0, header);
  if (!is_at(header, 0, kBegin)) fail(path, "it does not begin as the file of a cache");
  if (number_at<std::uint32_t>(header, 8) != kVersion || number_at<std::uint32_t>(header, 12) != kByteOrder)
    throw Error(ErrorCode::failed_precondition, in_quotes(path) +
                                                    " was written by another version, or for a machine with another "
                                                    "byte order: remove it, or give another path");
}

Bytes index_bytes(PlacedFile file, const std::string& path, std::size_t file_bytes) {
  Bytes trailer(kTrailerBytes);
  file.read(file_bytes - kTrailerBytes, trailer);
  if (!is_at(trailer, 16, kEnd) || checksum_of(std::span(trailer).first(12)) != number_at<std::uint32_t>(trailer, 12))
    fail(path, "its last bytes are not those of the file of a cache");
  const auto bytes = number_at<std::uint64_t>(trailer, 0);
  if (bytes > file_bytes - kHeaderBytes - kTrailerBytes) fail(path, "its index would be longer than the file");
  Bytes index(bytes);
  file.read(file_bytes - kTrailerBytes - bytes, index);
  if (checksum_of(index) != number_at<std::uint32_t>(trailer, 8)) fail(path, "its index has another checksum");
  return index;
}

void check_type(const std::string& given, const std::type_info& type, const std::string& path) {
  if (given == type_name(type)) return;
  throw Error(ErrorCode::failed_precondition, in_quotes(path) + " holds elements of type " + given + ", and " +
                                                  type_name(type) + " is wanted: remove it, or give another path");
}

// One block behind the other, up to the index, which begins at `end`.
void place_blocks(CacheIndex& index, std::uint64_t end) {
  std::uint64_t place = kHeaderBytes;
  for (CacheBlock& block : index.blocks) {
    if (block.bytes > end - place || block.elements == 0 || block.elements > block.bytes / kRecordBytes)
      fail(index.path, "its index tells of blocks that it cannot have");
    block.place = std::exchange(place, place + block.bytes);
    block.first = std::exchange(index.elements, index.elements + block.elements);
  }
  if (place != end) fail(index.path, "its index does not tell of all bytes");
}

std::unique_ptr<const CacheIndex> read_index(io::File& file, const std::string& path, const std::type_info& type) {
  auto index = std::make_unique<CacheIndex>();
  index->path = path;
  const std::size_t size = io::version_of(file, path).size;
  if (size < kHeaderBytes + kTrailerBytes) fail(path, "it is too short");
  const PlacedFile placed(file, path);
  check_header(placed, path);
  const Bytes bytes = index_bytes(placed, path, size);
  ByteReader from(bytes);
  check_type(from.read<std::string>(), type, path);
  for (std::size_t left = from.count(kIndexedBytes); left > 0; --left) {
    CacheBlock& block = index->blocks.emplace_back();
    block.bytes = from.read<std::uint64_t>();
    block.elements = from.read<std::uint64_t>();
    block.checksum = from.read<std::uint32_t>();
  }
  place_blocks(*index, size - kTrailerBytes - bytes.size());
  return index;
}

}  // namespace

std::size_t CacheIndex::block_of(std::uint64_t element) const noexcept {
  const auto behind = std::ranges::upper_bound(blocks, element, {}, &CacheBlock::first);
  return static_cast<std::size_t>(behind - blocks.begin()) - 1;
}

std::optional<CacheFile> CacheFile::open(const io::FileSystem& files, const std::string& path,
                                         const std::type_info& type) {
  auto [file, error] = io::try_to_open(files, path);
  if (error == ENOENT) return std::nullopt;
  if (error != 0) throw io::file_error("open", path, error);
  auto index = read_index(*file, path, type);
  return CacheFile(std::move(file), std::move(index));
}

void CacheFile::read(std::size_t block, std::vector<std::byte>& to) const {
  const CacheBlock& wanted = index_->blocks[block];
  to.resize(wanted.bytes);
  PlacedFile(*file_, index_->path).read(wanted.place, to);
  if (checksum_of(to) != wanted.checksum)
    fail(index_->path, "block " + std::to_string(block) + " has another checksum");
}

CacheRecord::CacheRecord(std::span<const std::byte> block, std::size_t begin) {
  const std::span<const std::byte> rest = block.subspan(begin);
  ByteReader head(rest);
  stamp.ordinal = head.read<std::int64_t>();
  stamp.sub = head.read<std::uint64_t>();
  stamp.source = head.read<std::uint16_t>();
  value = rest.subspan(kRecordBytes, head.count());
  end = begin + kRecordBytes + value.size();
}

Slot CacheRecord::decoded(const detail::ElementCodec& codec, const std::string& path) const {
  ByteReader from(value);
  Slot slot;
  slot.stamp = stamp;
  slot.value = codec.read(from);
  if (from.rest() > 0) fail(path, "an element has more bytes than its value");
  slot.set_bytes(byte_count(slot.value.bytes()) + static_cast<std::int64_t>(sizeof(Slot)));
  return slot;
}

std::optional<Slot> CacheFileReader::next(const detail::ElementCodec& codec) {
  const CacheIndex& index = file_.index();
  while (elements_ == 0) {
    if (at_ < block_.size()) fail(index.path, "a block has more bytes than its elements");
    if (next_block_ == index.blocks.size()) return std::nullopt;
    enter(next_block_);
  }
  const CacheRecord record(block_, at_);
  at_ = record.end;
  --elements_;
  return record.decoded(codec, index.path);
}

void CacheFileReader::enter(std::size_t block) {
  file_.read(block, block_);
  elements_ = file_.index().blocks[block].elements;
  next_block_ = block + 1;
  at_ = 0;
}

void CacheFileReader::go_to(std::uint64_t element) {
  if (element == size()) {
    next_block_ = file_.index().blocks.size();
    block_.clear();
    at_ = 0;
    elements_ = 0;
    return;
  }
  const std::size_t block = file_.index().block_of(element);
  enter(block);
  for (std::uint64_t at = file_.index().blocks[block].first; at < element; ++at, --elements_)
    at_ = CacheRecord(block_, at_).end;
}

}  // namespace penstock::ops
