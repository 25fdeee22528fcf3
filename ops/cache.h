// cache: what is before it runs one pass, which is remembered. Documented at Dataset::cache.
#pragma once

#include <penstock/call_site.h>
#include <penstock/detail/copying.h>
#include <penstock/op.h>
#include <penstock/options.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "lib/base/mutex.h"
#include "lib/graph/traits.h"

namespace penstock::ops {

class CacheOp final : public MergeOp, public graph::RunsInputsOnce {
 public:
  // Error(invalid_argument) where max_bytes is negative.
  CacheOp(detail::CopierRef copier, const CacheOptions& options, const CallSite& site);
  std::string name() const override { return "cache"; }
  Flow flow_of(std::span<const Flow> inputs) const override { return inputs.front(); }
  std::unique_ptr<MergeState> open(std::size_t inputs) const override;

 private:
  class State;
  using Slots = std::deque<Slot>;  // what is there stays where it is

  std::shared_ptr<const Slots> whole() const EXCLUDES(mutex_);  // null: there is none yet
  // Whether who asks may make it. One may, until it has published it, or lets go of it.
  bool claim() const EXCLUDES(mutex_);
  void publish(std::shared_ptr<const Slots> whole) const EXCLUDES(mutex_);
  void let_go() const EXCLUDES(mutex_);
  void give_up(const char* reason) const EXCLUDES(mutex_);  // for good, with a warning
  std::int64_t most_bytes() const;
  Slot copy_of(const Slot& kept) const;  // or a failure

  const detail::CopierRef copier_;
  const std::int64_t max_bytes_;  // 0: a part of what is free
  const CallSite site_;
  mutable Mutex mutex_;  // never across a call out
  mutable std::shared_ptr<const Slots> whole_ GUARDED_BY(mutex_);
  mutable bool is_claimed_ GUARDED_BY(mutex_) = false;  // for good where it was published, or given up
};

}  // namespace penstock::ops
