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

namespace penstock::ops {

class LocalSavedFile final : public detail::SavedFile {
 public:
  // A block with the places of its elements.
  struct Block {
    std::uint64_t first = 0;  // element
    std::vector<std::byte> bytes;
    std::vector<std::uint32_t> begins;

    bool has(std::uint64_t element) const noexcept { return element >= first && element - first < begins.size(); }
  };
  using BlockRef = std::shared_ptr<const Block>;

  // Errors as of CacheFile::open(), and not_found.
  LocalSavedFile(const std::string& path, detail::ElementCodecRef codec);

  const std::string& path() const noexcept { return file_.index().path; }
  std::int64_t size() const noexcept override { return static_cast<std::int64_t>(file_.index().elements); }
  // Of an element, about: of its block, divided by those in it. 0 for one that is not there.
  std::size_t bytes_of(std::int64_t element) const noexcept;
  // `last`: the block that this caller had before, or null. Errors as of CacheFile and CacheRecord.
  Element read(std::int64_t element, BlockRef& last) const;

 private:
  BlockRef block_of(std::uint64_t element) const;
  BlockRef read_block_of(std::uint64_t element) const;

  const detail::ElementCodecRef codec_;
  const CacheFile file_;  // one for all calls: what is put in its place, or removed, does not change what they read
  mutable Mutex mutex_;
  // Small ones of several elements that were read last, the latest one at the end: for calls whose elements lie
  // together.
  mutable std::vector<BlockRef> recent_ GUARDED_BY(mutex_);
};

}  // namespace penstock::ops
