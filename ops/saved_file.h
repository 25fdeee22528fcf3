// The file of a ps::Saved: its elements, any of them at any time, by several threads at once. Documented in saved.h.
#pragma once

#include <penstock/codec.h>
#include <penstock/saved.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/mutex.h"
#include "ops/cache_file.h"
#include "ops/io/file_system.h"

namespace penstock::detail {

class SavedFile {
 public:
  // Errors as of CacheFileReader::open(), and not_found.
  SavedFile(io::FileSystemRef files, const std::string& path, ElementCodecRef codec);

  const std::string& path() const noexcept { return index_->path; }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(index_->elements); }
  const ElementCodec& codec() const noexcept { return *codec_; }
  // Of an element, about: of its block, divided by those in it. 0 for one that is not there.
  std::size_t bytes_of(std::int64_t element) const noexcept;

  // One that nobody else has meanwhile: if there is one, that which stands at the element.
  std::unique_ptr<ops::CacheFileReader> take_reader(std::int64_t element) const;
  void give_back(std::unique_ptr<ops::CacheFileReader> reader) const noexcept;

 private:
  const io::FileSystemRef files_;
  const ElementCodecRef codec_;
  std::shared_ptr<const ops::CacheIndex> index_;
  mutable Mutex mutex_;
  mutable std::vector<std::unique_ptr<ops::CacheFileReader>> idle_ GUARDED_BY(mutex_);
};

}  // namespace penstock::detail
