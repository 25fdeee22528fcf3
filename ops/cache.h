// cache: what is before it runs one pass, which is remembered. Documented at Dataset::cache.
#pragma once

#include <penstock/call_site.h>
#include <penstock/detail/copying.h>
#include <penstock/op.h>
#include <penstock/options.h>

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/mutex.h"
#include "lib/graph/traits.h"
#include "ops/cache_store.h"

namespace penstock::ops {

class CacheOp final : public MergeOp, public graph::RunsInputsOnce {
 public:
  // Error(invalid_argument) where max_bytes is negative.
  CacheOp(detail::CopierRef copier, const CacheOptions& options, const CallSite& site);
  std::string name() const override { return "cache"; }
  Flow flow_of(std::span<const Flow> inputs) const override { return inputs.front(); }
  std::unique_ptr<MergeState> open(std::size_t inputs) const override;

  // ---- for its states

  // What the first run has begun to remember, and those that came after it went on with. Null: it was given up.
  std::shared_ptr<CacheStore> store() const EXCLUDES(mutex_);
  // It is for those alone that read it now. `reason`: for the warning, which is written once.
  void give_up(const std::string& reason) const EXCLUDES(mutex_);
  // A copy of what is kept.
  Slot copy_of(const Slot& kept) const;

 private:
  const detail::CopierRef copier_;
  const std::int64_t max_bytes_;  // 0: a part of what is free
  const CallSite site_;
  mutable Mutex mutex_;  // never across a call out
  mutable std::shared_ptr<CacheStore> store_ GUARDED_BY(mutex_);
  mutable bool is_given_up_ GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::ops
