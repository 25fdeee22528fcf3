#include "ops/cache_store.h"

#include <utility>

namespace penstock::ops {

std::size_t CacheStore::size_now() const {
  return chunks_.empty() ? 0 : (chunks_.size() - 1) * kChunk + chunks_.back().size();
}

CacheStore::View CacheStore::from(std::size_t number) const {
  MutexLock lock(mutex_);
  if (number >= size_now()) return {.slots = {}, .has_ended = has_ended_};
  return {.slots = std::span(chunks_[number / kChunk]).subspan(number % kChunk)};
}

std::size_t CacheStore::size() const {
  MutexLock lock(mutex_);
  return size_now();
}

CacheStore::Added CacheStore::add(std::size_t number, Slot&& slot) {
  MutexLock lock(mutex_);
  if (has_ended_ || number != size_now()) return Added::too_late;
  if (slot.bytes() > max_bytes_ - bytes_) return Added::no_room;
  if (number % kChunk == 0) {
    std::vector<Slot> chunk;
    chunk.reserve(kChunk);
    chunks_.push_back(std::move(chunk));
  }
  bytes_ += slot.bytes();
  chunks_.back().push_back(std::move(slot));
  return Added::yes;
}

void CacheStore::end() {
  MutexLock lock(mutex_);
  has_ended_ = true;
}

}  // namespace penstock::ops
