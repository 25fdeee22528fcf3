#include "ops/cache.h"

#include <penstock/error.h>
#include <penstock/ops.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "lib/base/text.h"
#include "lib/core/cpu_budget.h"
#include "lib/graph/arguments.h"
#include "lib/graph/node.h"

namespace penstock::ops {
namespace {

constexpr std::uint64_t kPartOfFreeMemory = 4;

std::int64_t default_bytes() {
  const std::uint64_t part = HostLimits().memory().bytes() / kPartOfFreeMemory;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(part, std::int64_t{1} << 60));
}

// Gives slot after slot, from the store where it has them. Behind them it asks its input, passes on what it gets, and
// remembers a copy. Without a store it passes on each pass of its input.
class State final : public MergeState, public graph::AsksForInputs {
 public:
  explicit State(const CacheOp& op) : op_(op) {}

  void begin_pass(const Stamp& pass) override {
    pass_ = pass;
    next_ = 0;
    kept_ = {};
    store_ = op_.store();
    if (store_ == nullptr) input_is_running_ = false;
    decide();
  }
  std::uint32_t runs_of_inputs() const override { return runs_of_input_; }

  Want want() const override { return wanted_; }
  void give(Emitter& out) override {
    const Slot& kept = kept_.front();
    kept_ = kept_.subspan(1);
    ++next_;
    decide();
    out.forward(in_this_pass(op_.copy_of(kept)));
  }
  // What another run has remembered meanwhile was given before it comes here.
  void take(std::size_t, Slot&& slot, Emitter& out) override {
    if (taken_++ < next_) return;
    ++next_;
    if (store_ != nullptr) remember(slot);
    decide();
    out.forward(in_this_pass(std::move(slot)));
  }
  void ended(std::size_t, Emitter&) override {
    input_has_ended_ = true;
    if (store_ != nullptr && !has_given_up_) store_->end();
    decide();
  }
  bool soon(std::size_t) const noexcept override { return input_is_running_ && !input_has_ended_; }

 private:
  void decide() {
    CacheStore::View view;
    if (kept_.empty() && store_ != nullptr) view = store_->from(next_);
    if (!view.slots.empty()) kept_ = view.slots;
    if (!kept_.empty()) {
      wanted_ = Want::own();
    } else if (view.has_ended || (input_is_running_ && input_has_ended_)) {
      wanted_ = Want::nothing();
    } else {
      run_input();
      wanted_ = Want::one(0);
    }
  }
  void run_input() {
    if (std::exchange(input_is_running_, true)) return;
    ++runs_of_input_;
    taken_ = 0;
    input_has_ended_ = false;
  }

  // The slot with the number next_ - 1.
  void remember(const Slot& slot) {
    if (has_given_up_ || store_->size() != next_ - 1) return;
    Slot copy = op_.copy_of(slot);
    if (copy.kind() == Slot::Kind::failed)
      return give_up("an element could not be copied: " + message_of(copy.value.get<std::exception_ptr>()));
    try {
      if (store_->add(next_ - 1, std::move(copy)) == CacheStore::Added::no_room)
        give_up("it may keep " + format_bytes(static_cast<std::uint64_t>(store_->max_bytes())) + ", which its first " +
                std::to_string(store_->size()) + " elements fill");
    } catch (const std::bad_alloc&) {
      give_up("there is no memory");
    }
  }
  void give_up(const std::string& reason) {
    has_given_up_ = true;
    op_.give_up(reason);
  }
  Slot in_this_pass(Slot slot) const noexcept {
    slot.stamp.epoch = pass_.epoch;
    slot.stamp.pass = pass_.pass;
    slot.stamp.sequence = pass_.sequence;
    return slot;
  }

  const CacheOp& op_;
  std::shared_ptr<CacheStore> store_;
  std::span<const Slot> kept_;  // of the store, that are next
  Want wanted_;
  Stamp pass_;
  std::size_t next_ = 0;   // the number of what it gives next
  std::size_t taken_ = 0;  // of the input, since it began
  std::uint32_t runs_of_input_ = 0;
  bool input_is_running_ = false;  // or has ended: for the store, or for this pass
  bool input_has_ended_ = false;
  bool has_given_up_ = false;
};

}  // namespace

CacheOp::CacheOp(detail::CopierRef copier, const CacheOptions& options, const CallSite& site)
    : copier_(std::move(copier)), max_bytes_(options.max_bytes), site_(site) {
  if (max_bytes_ < 0) graph::reject("max_bytes", "0 (a quarter of the free memory) or more", max_bytes_);
}

std::unique_ptr<MergeState> CacheOp::open(std::size_t) const { return std::make_unique<State>(*this); }

std::shared_ptr<CacheStore> CacheOp::store() const {
  MutexLock lock(mutex_);
  if (store_ == nullptr && !is_given_up_)
    store_ = std::make_shared<CacheStore>(max_bytes_ > 0 ? max_bytes_ : default_bytes());
  return store_;
}

void CacheOp::give_up(const std::string& reason) const {
  {
    MutexLock lock(mutex_);
    if (std::exchange(is_given_up_, true)) return;
    store_ = nullptr;
  }
  const std::string place = graph::to_string(site_);
  std::fprintf(stderr,
               "penstock: cache%s%s remembers nothing any more: %s. What is before it runs again in each pass. Let it "
               "keep more (CacheOptions::max_bytes), or cache what is smaller, as files that are not decoded yet\n",
               place.empty() ? "" : " at ", place.c_str(), reason.c_str());
}

Slot CacheOp::copy_of(const Slot& kept) const {
  Slot copy(Element(), kept.stamp);
  copy.set_kind(kept.kind());
  copy.set_bytes(kept.bytes());
  try {
    if (kept.is_element()) {
      copy.value = copier_->copy(kept.value);
    } else {
      copy.value = Element(kept.value.get<std::exception_ptr>());
    }
  } catch (...) {
    copy.fail(detail::current_failure());
  }
  return copy;
}

OpRef cache(detail::CopierRef copier, const CacheOptions& options, const CallSite& site) {
  return std::make_shared<CacheOp>(std::move(copier), options, site);
}

}  // namespace penstock::ops
