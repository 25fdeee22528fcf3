#include "ops/saved_file.h"

#include <penstock/error.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/base/fnv1a.h"
#include "lib/base/text.h"
#include "lib/graph/node.h"
#include "ops/io/file_system.h"
#include "ops/io/open_file.h"

namespace penstock::ops {
namespace {

constexpr std::size_t kRecentBlocks = 16, kLargestRecent = std::size_t{1} << 20;

CacheFile opened(const std::string& path, const detail::ElementCodec& codec) {
  auto file = CacheFile::open(*io::local_file_system(), path, codec.type());
  if (!file) throw Error(ErrorCode::not_found, "there is no file " + in_quotes(path) + ": save() writes one");
  return std::move(*file);
}

}  // namespace

// ------------------------------------------------------------------------------------------------ reading

LocalSavedFile::LocalSavedFile(const std::string& path, detail::ElementCodecRef codec)
    : codec_(std::move(codec)), file_(opened(path, *codec_)) {}

std::size_t LocalSavedFile::bytes_of(std::int64_t element) const noexcept {
  if (element < 0 || element >= size()) return 0;
  const CacheBlock& block = file_.index().blocks[file_.index().block_of(static_cast<std::uint64_t>(element))];
  return block.bytes / block.elements;
}

Element LocalSavedFile::read(std::int64_t element, BlockRef& last) const {
  if (element < 0 || element >= size())
    throw Error(ErrorCode::invalid_argument, in_quotes(path()) + " has no element " + std::to_string(element) +
                                                 ": it has " + std::to_string(size()) + ", numbered from 0");
  const auto wanted = static_cast<std::uint64_t>(element);
  if (!last || !last->has(wanted)) last = block_of(wanted);
  const CacheRecord record(last->bytes, last->begins[wanted - last->first]);
  return std::move(record.decoded(*codec_, path()).value);
}

// Two calls may read one at once: that costs less than to wait.
LocalSavedFile::BlockRef LocalSavedFile::block_of(std::uint64_t element) const {
  {
    const MutexLock lock(mutex_);
    const auto at = std::ranges::find_if(recent_, [element](const BlockRef& block) { return block->has(element); });
    if (at != recent_.end()) {
      std::rotate(at, at + 1, recent_.end());
      return recent_.back();
    }
  }
  BlockRef block = read_block_of(element);
  if (block->begins.size() == 1 || block->bytes.size() > kLargestRecent) return block;
  const MutexLock lock(mutex_);
  if (recent_.size() == kRecentBlocks) recent_.erase(recent_.begin());
  recent_.push_back(block);
  return block;
}

LocalSavedFile::BlockRef LocalSavedFile::read_block_of(std::uint64_t element) const {
  const std::size_t number = file_.index().block_of(element);
  const CacheBlock& wanted = file_.index().blocks[number];
  auto block = std::make_shared<Block>();
  block->first = wanted.first;
  file_.read(number, block->bytes);
  block->begins.reserve(wanted.elements);
  for (std::size_t at = 0; block->begins.size() < wanted.elements;) {
    block->begins.push_back(static_cast<std::uint32_t>(at));
    at = CacheRecord(block->bytes, at).end;
  }
  return block;
}

}  // namespace penstock::ops

namespace penstock::detail {

SavedFileRef open_saved_file(const std::string& path, ElementCodecRef codec) {
  return std::make_shared<ops::LocalSavedFile>(path, std::move(codec));
}

// ------------------------------------------------------------------------------------------------ writing

struct Saver::File {
  File(const std::string& path, ElementCodecRef of_elements)
      : writer(*io::local_file_system(), path, of_elements->type(), 0), codec(std::move(of_elements)) {}

  ops::CacheFileWriter writer;
  const ElementCodecRef codec;
  std::int64_t elements = 0;
};

Saver::Saver(const std::string& path, ElementCodecRef codec) : file_(std::make_unique<File>(path, std::move(codec))) {}

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
  if (error != 0 && io::local_file_system()->status(folder).value.kind != io::FileKind::folder)
    throw io::file_error("make folder", folder, ENOTDIR);
  std::string digits(16, '0');
  std::uint64_t number = fnv1a(graph::pipeline_text(node));
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, number /= 16)
    *digit = "0123456789abcdef"[number % 16];
  return folder + "/" + digits + ".cache";
}

}  // namespace penstock::detail
