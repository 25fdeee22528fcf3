#include "ops/saved_file.h"

#include <penstock/error.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/base/fnv1a.h"
#include "lib/base/text.h"
#include "lib/graph/node.h"
#include "ops/io/open_file.h"

namespace penstock::ops {
namespace {

constexpr std::size_t kRecentBlocks = 16, kLargestRecent = std::size_t{1} << 20;

}  // namespace

// ------------------------------------------------------------------------------------------------ reading

LocalSavedFile::LocalSavedFile(io::FileSystemRef files, const std::string& path, detail::ElementCodecRef codec)
    : files_(std::move(files)), codec_(std::move(codec)) {
  auto file = CacheFile::open(*files_, path, codec_->type());
  if (!file) throw Error(ErrorCode::not_found, "there is no file " + in_quotes(path) + ": save() writes one");
  index_ = file->index();
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(*file));
}

std::size_t LocalSavedFile::bytes_of(std::int64_t element) const noexcept {
  if (element < 0 || element >= size()) return 0;
  const CacheBlock& block = index_->blocks[index_->block_of(static_cast<std::uint64_t>(element))];
  return block.bytes / block.elements;
}

Element LocalSavedFile::read(std::int64_t element, BlockRef& last) const {
  if (element < 0 || element >= size())
    throw Error(ErrorCode::invalid_argument, in_quotes(path()) + " has no element " + std::to_string(element) +
                                                 ", but those from 0 to " + std::to_string(size() - 1));
  const auto wanted = static_cast<std::uint64_t>(element);
  if (!last || !last->has(wanted)) last = block(index_->block_of(wanted));
  const CacheRecord record(last->bytes, last->begins[wanted - last->first]);
  return std::move(record.decoded(*codec_, path()).value);
}

// Two calls may read one at once: that costs less than to wait.
LocalSavedFile::BlockRef LocalSavedFile::block(std::size_t number) const {
  {
    const MutexLock lock(mutex_);
    const auto at = std::ranges::find(recent_, number, &Block::number);
    if (at != recent_.end()) {
      std::rotate(at, at + 1, recent_.end());
      return recent_.back();
    }
  }
  BlockRef block = read_block(number);
  if (block->begins.size() == 1 || block->bytes.size() > kLargestRecent) return block;
  const MutexLock lock(mutex_);
  if (recent_.size() == kRecentBlocks) recent_.erase(recent_.begin());
  recent_.push_back(block);
  return block;
}

LocalSavedFile::BlockRef LocalSavedFile::read_block(std::size_t number) const {
  auto block = std::make_shared<Block>();
  block->number = number;
  block->first = index_->blocks[number].first;
  CacheFile file = take_file();
  file.read(number, block->bytes);
  {
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(file));
  }
  block->begins.reserve(index_->blocks[number].elements);
  for (std::size_t at = 0; block->begins.size() < index_->blocks[number].elements;) {
    block->begins.push_back(static_cast<std::uint32_t>(at));
    at = CacheRecord(block->bytes, at).end;
  }
  return block;
}

CacheFile LocalSavedFile::take_file() const {
  {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      CacheFile file = std::move(idle_.back());
      idle_.pop_back();
      return file;
    }
  }
  return {*files_, index_};
}

}  // namespace penstock::ops

namespace penstock::detail {

SavedFileRef open_saved_file(const std::string& path, ElementCodecRef codec) {
  return std::make_shared<ops::LocalSavedFile>(io::local_file_system(), path, std::move(codec));
}

// ------------------------------------------------------------------------------------------------ writing

struct Saver::File {
  ops::CacheFileWriter writer;
  const ElementCodecRef codec;
  std::int64_t elements = 0;
};

Saver::Saver(const std::string& path, ElementCodecRef codec)
    : file_(new File{{*io::local_file_system(), path, codec->type(), 0}, codec}) {}

Saver::~Saver() = default;

void Saver::add(Element value) {
  Slot slot(std::move(value), Stamp());
  slot.stamp.ordinal = file_->elements++;
  file_->writer.add(slot, *file_->codec);
}

SaveReport Saver::publish() {
  file_->writer.publish();
  return {.elements = file_->elements, .bytes = file_->writer.written_bytes()};
}

std::string path_of_snapshot(const graph::NodeRef& node, const std::string& folder) {
  const int error = io::local_file_system()->make_folder(folder);
  if (error != 0 && error != EEXIST) throw io::file_error("make folder", folder, error);
  std::string digits(16, '0');
  std::uint64_t number = fnv1a(graph::pipeline_text(node));
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, number /= 16)
    *digit = "0123456789abcdef"[number % 16];
  return folder + "/" + digits + ".cache";
}

}  // namespace penstock::detail
