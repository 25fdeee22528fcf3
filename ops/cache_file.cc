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
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
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

std::unique_ptr<io::NewFile> create(const io::FileSystem& files, const std::string& path) {
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
  blocks_.push_back({block_.size(), std::exchange(elements_, 0), checksum_of(block_)});
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
  while (!bytes.empty()) {
    const auto [count, error] = file_->write(bytes);
    if (error != 0 && error != EINTR) throw io::file_error("write", path_, error);
    bytes = bytes.subspan(count);
  }
}

// ------------------------------------------------------------------------------------------------ reading

std::unique_ptr<CacheFileReader> CacheFileReader::open(const io::FileSystem& files, const std::string& path,
                                                       const std::type_info& type) {
  auto answer = io::try_to_open(files, path);
  if (answer.error == ENOENT) return nullptr;
  if (answer.error != 0) throw io::file_error("open", path, answer.error);
  std::unique_ptr<CacheFileReader> reader(new CacheFileReader(std::move(answer.value), path));
  reader->read_index(type);
  return reader;
}

void CacheFileReader::fail(const std::string& what) const {
  throw Error(ErrorCode::data_loss, in_quotes(path_) + " is damaged: " + what);
}

void CacheFileReader::seek(std::size_t place) {
  if (const int error = file_->seek(place)) throw io::file_error("read", path_, error);
}

void CacheFileReader::read(std::span<std::byte> to) {
  while (!to.empty()) {
    const auto [count, error] = file_->read(to);
    if (error == EINTR) continue;
    if (error != 0) throw io::file_error("read", path_, error);
    if (count == 0) fail("it ends too early");
    to = to.subspan(count);
  }
}

void CacheFileReader::read_index(const std::type_info& type) {
  const std::size_t size = io::version_of(*file_, path_).size;
  if (size < kHeaderBytes + kTrailerBytes) fail("it is too short");
  read_header();
  const Bytes index = index_bytes(size);
  ByteReader from(index);
  if (const auto given = from.read<std::string>(); given != type_name(type))
    throw Error(ErrorCode::failed_precondition, in_quotes(path_) + " holds elements of type " + given + ", and " +
                                                    type_name(type) + " is wanted: remove it, or give another path");
  for (std::size_t left = from.count(kIndexedBytes); left > 0; --left) {
    const auto bytes = from.read<std::uint64_t>(), elements = from.read<std::uint64_t>();
    blocks_.push_back({bytes, elements, from.read<std::uint32_t>()});
  }
  check_places(size - kTrailerBytes - index.size());
  seek(kHeaderBytes);
}

void CacheFileReader::read_header() {
  Bytes header(kHeaderBytes);
  read(header);
  if (!is_at(header, 0, kBegin)) fail("it does not begin as the file of a cache");
  if (number_at<std::uint32_t>(header, 8) != kVersion || number_at<std::uint32_t>(header, 12) != kByteOrder)
    throw Error(ErrorCode::failed_precondition, in_quotes(path_) +
                                                    " was written by another version, or for a machine with another "
                                                    "byte order: remove it, or give another path");
}

std::vector<std::byte> CacheFileReader::index_bytes(std::size_t file_bytes) {
  Bytes trailer(kTrailerBytes);
  seek(file_bytes - kTrailerBytes);
  read(trailer);
  if (!is_at(trailer, 16, kEnd) || checksum_of(std::span(trailer).first(12)) != number_at<std::uint32_t>(trailer, 12))
    fail("its last bytes are not those of the file of a cache");
  const auto bytes = number_at<std::uint64_t>(trailer, 0);
  if (bytes > file_bytes - kHeaderBytes - kTrailerBytes) fail("its index would be longer than the file");
  Bytes index(bytes);
  seek(file_bytes - kTrailerBytes - bytes);
  read(index);
  if (checksum_of(index) != number_at<std::uint32_t>(trailer, 8)) fail("its index has another checksum");
  return index;
}

// One block behind the other, up to the index.
void CacheFileReader::check_places(std::uint64_t end) const {
  std::uint64_t place = kHeaderBytes;
  for (const CacheBlock& block : blocks_) {
    if (block.bytes > end - place || block.elements == 0 || block.elements > block.bytes / kRecordBytes)
      fail("its index tells of blocks that it cannot have");
    place += block.bytes;
  }
  if (place != end) fail("its index does not tell of all bytes");
}

void CacheFileReader::read_block() {
  const CacheBlock& block = blocks_[next_block_];
  block_.resize(block.bytes);
  read(block_);
  if (checksum_of(block_) != block.checksum) fail("block " + std::to_string(next_block_) + " has another checksum");
  ++next_block_;
  at_ = 0;
  elements_ = block.elements;
}

std::optional<Slot> CacheFileReader::next(const detail::ElementCodec& codec) {
  while (elements_ == 0) {
    if (at_ < block_.size()) fail("a block has more bytes than its elements");
    if (next_block_ == blocks_.size()) return std::nullopt;
    read_block();
  }
  const std::span<const std::byte> rest = std::span(block_).subspan(at_);
  ByteReader head(rest);
  Slot slot;
  slot.stamp.ordinal = head.read<std::int64_t>();
  slot.stamp.sub = head.read<std::uint64_t>();
  slot.stamp.source = head.read<std::uint16_t>();
  const std::size_t bytes = head.count();
  ByteReader value(rest.subspan(kRecordBytes, bytes));
  at_ += kRecordBytes + bytes;
  --elements_;
  slot.value = codec.read(value);
  if (value.rest() > 0) fail("an element has more bytes than its value");
  slot.set_bytes(byte_count(slot.value.bytes()) + static_cast<std::int64_t>(sizeof(Slot)));
  return slot;
}

}  // namespace penstock::ops
