#include "ops/saved_file.h"

#include <penstock/error.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/base/fnv1a.h"
#include "lib/base/text.h"
#include "lib/graph/node.h"
#include "ops/io/open_file.h"

namespace penstock::detail {
namespace {

constexpr std::int64_t kMostIdleBytes = std::int64_t{1} << 20;  // what a reader may hold that nobody uses

}  // namespace

// ------------------------------------------------------------------------------------------------ reading

SavedFile::SavedFile(io::FileSystemRef files, const std::string& path, ElementCodecRef codec)
    : files_(std::move(files)), codec_(std::move(codec)) {
  auto reader = ops::CacheFileReader::open(*files_, path, codec_->type());
  if (!reader) throw Error(ErrorCode::not_found, "there is no file " + in_quotes(path) + ": save() writes one");
  index_ = reader->index();
  give_back(std::move(reader));
}

std::size_t SavedFile::bytes_of(std::int64_t element) const noexcept {
  if (element < 0 || element >= size()) return 0;
  const ops::CacheBlock& block = index_->blocks[index_->block_of(static_cast<std::uint64_t>(element))];
  return block.bytes / block.elements;
}

std::unique_ptr<ops::CacheFileReader> SavedFile::take_reader(std::int64_t element) const {
  {
    const MutexLock lock(mutex_);
    const auto at = std::ranges::find(idle_, static_cast<std::uint64_t>(element), &ops::CacheFileReader::at);
    if (at != idle_.end()) std::iter_swap(at, idle_.end() - 1);
    if (!idle_.empty()) {
      auto reader = std::move(idle_.back());
      idle_.pop_back();
      return reader;
    }
  }
  return ops::CacheFileReader::open(*files_, index_);
}

void SavedFile::give_back(std::unique_ptr<ops::CacheFileReader> reader) const noexcept {
  if (reader->held_bytes() > kMostIdleBytes) return;
  const MutexLock lock(mutex_);
  try {
    idle_.push_back(std::move(reader));
  } catch (const std::bad_alloc&) {  // then there is one fewer
  }
}

SavedFileRef open_saved_file(const std::string& path, ElementCodecRef codec) {
  return std::make_shared<SavedFile>(io::local_file_system(), path, std::move(codec));
}

std::int64_t elements_of(const SavedFile& file) noexcept { return file.size(); }

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
