// The file of a cache: elements in blocks, each with a checksum, and behind them where the blocks lie.
//
//   byte 0   "PENSTCCH", version u32, 0x01020304 as this machine has it u32
//            blocks: of each element   ordinal i64, sub u64, source u16, bytes of its value u64, its value (codec.h)
//            index:  type of the elements text, number of blocks u64, of each block   bytes u64, elements u64, CRC-32
//                    u32
//   at its   bytes of the index u64, CRC-32 of the index u32, CRC-32 of these twelve bytes u32, "PENSTEND"
//   end
//
// A text is its bytes u64, then they. It is written from the first byte to the last one, and has its name only then.
#pragma once

#include <penstock/codec.h>
#include <penstock/slot.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/io/file_system.h"

namespace penstock::ops {

struct CacheBlock {
  std::uint64_t bytes = 0, elements = 0;
  std::uint32_t checksum = 0;
  std::uint64_t place = 0, first = 0;  // in the file, and among its elements
};

// What the end of a file tells of it.
struct CacheIndex {
  std::string path;
  std::vector<CacheBlock> blocks;
  std::uint64_t elements = 0;

  // The number of the block that has this element, which must be there.
  std::size_t block_of(std::uint64_t element) const noexcept;
};

// Writes one. For one thread at a time. After an Error it can only be destroyed, and leaves no file.
class CacheFileWriter {
 public:
  // Error where it cannot be, as where somebody else is writing it. `most_bytes`: of the file.
  CacheFileWriter(const io::FileSystem& files, const std::string& path, const std::type_info& type,
                  std::int64_t most_bytes);
  // Error where there is no room; and what the codec throws.
  void add(const Slot& slot, const detail::ElementCodec& codec);
  void publish();  // the last call
  std::int64_t written_bytes() const noexcept { return static_cast<std::int64_t>(written_); }
  std::int64_t held_bytes() const noexcept { return static_cast<std::int64_t>(block_.capacity()); }

 private:
  void flush();
  void write(std::span<const std::byte> bytes);

  const std::string path_;
  const std::string type_;
  const std::uint64_t most_bytes_;
  const std::unique_ptr<io::NewFile> file_;
  std::vector<std::byte> block_;  // not written yet
  std::uint64_t elements_ = 0;    // in it
  std::uint64_t written_ = 0;     // bytes of the file
  std::vector<CacheBlock> blocks_;
};

// One that is open for reading. Threads as of io::File::read_at().
class CacheFile {
 public:
  // None: there is no such file. Error(data_loss) where it is damaged, Error(failed_precondition) where it is not what
  // is wanted: of another version, or elements of another type.
  static std::optional<CacheFile> open(const io::FileSystem& files, const std::string& path,
                                       const std::type_info& type);
  const CacheIndex& index() const noexcept { return *index_; }
  // The bytes of a block. Error(data_loss) where they are damaged; std::bad_alloc.
  void read(std::size_t block, std::vector<std::byte>& to) const;

 private:
  CacheFile(std::unique_ptr<io::File> file, std::unique_ptr<const CacheIndex> index)
      : file_(std::move(file)), index_(std::move(index)) {}

  std::unique_ptr<io::File> file_;
  std::unique_ptr<const CacheIndex> index_;
};

// Where an element lies among the bytes of a block. Error(data_loss) where it would not end in them.
struct CacheRecord {
  Stamp stamp;
  std::span<const std::byte> value;
  std::size_t end = 0;  // where the next one begins

  CacheRecord(std::span<const std::byte> block, std::size_t begin);
  // With its place and its bytes. What the codec throws, and Error(data_loss) where it leaves bytes over.
  Slot decoded(const detail::ElementCodec& codec, const std::string& path) const;
};

// Reads all elements, one after the other. For one thread at a time.
class CacheFileReader {
 public:
  explicit CacheFileReader(CacheFile file) : file_(std::move(file)) {}
  // The next one; none: that was the last one. Errors as of CacheFile::read() and CacheRecord: then nothing more can be
  // read.
  std::optional<Slot> next(const detail::ElementCodec& codec);
  std::uint64_t size() const noexcept { return file_.index().elements; }
  void go_to(std::uint64_t element);  // the next one is this one, or the end where it is size()
  std::int64_t held_bytes() const noexcept { return static_cast<std::int64_t>(block_.capacity()); }

 private:
  void enter(std::size_t block);

  CacheFile file_;
  std::size_t next_block_ = 0;
  std::vector<std::byte> block_;
  std::size_t at_ = 0;          // in the block
  std::uint64_t elements_ = 0;  // left of it
};

}  // namespace penstock::ops
