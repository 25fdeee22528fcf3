#include "ops/cache.h"

#include <penstock/ops.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "lib/core/cpu_budget.h"
#include "lib/graph/arguments.h"
#include "lib/graph/node.h"
#include "ops/cache_pass.h"

namespace penstock::ops {

// Gives what is remembered. Else one state remembers what it passes on, and goes on with that from pass to pass until
// its input has ended. Others run their input in each pass meanwhile: theirs need not give the same.
class CacheOp::State final : public MergeState, public graph::AsksForInputs {
 public:
  explicit State(const CacheOp& op) : op_(op) {}
  ~State() override {
    if (own_) op_.let_go();
  }

  void begin_pass(const Stamp& pass) override {
    pass_ = pass;
    input_.begin_pass();
    if (!own_) {
      input_.drop();
      if (!whole_) look_for_one();
    }
    decide();
  }
  std::uint32_t runs_of_inputs() const override { return input_.runs(); }
  bool has_missed(bool keeps_numbers) const noexcept override { return input_.has_missed(keeps_numbers); }

  Want want() const override { return wanted_; }
  void give(Emitter& out) override { forward(op_.copy_of(kept()[next()]), out); }
  void take(std::size_t, Slot&& slot, Emitter& out) override {
    const bool was_given = input_.comes_again(slot);  // before the run was resumed
    if (own_) remember(slot);
    if (was_given) return decide();
    forward(std::move(slot), out);
  }
  void ended(std::size_t, Emitter&) override {
    input_.end();
    if (own_) op_.publish(whole_ = std::move(own_));
    decide();
  }
  bool soon(std::size_t) const noexcept override { return input_.brings_more(); }
  bool save(StateWriter& out) const override {
    input_.save(out);
    return input_.is_as_of_a_new_run();
  }
  void restore(StateReader& in) override {
    input_.restore(in);
    if (whole_ && next() > whole_->size()) StateReader::refuse();
    decide();
  }

 private:
  void look_for_one() {
    whole_ = op_.whole();
    if (whole_ || !op_.claim()) return;
    try {
      own_ = std::make_shared<Slots>();
      room_ = op_.most_bytes();
    } catch (...) {
      op_.let_go();
      throw;
    }
  }

  const Slots& kept() const { return own_ ? *own_ : *whole_; }
  std::size_t next() const noexcept { return static_cast<std::size_t>(input_.given()); }  // the number of what it gives
  void forward(Slot&& slot, Emitter& out) {
    Slot given = input_.given_in(pass_, std::move(slot));
    decide();
    out.forward(std::move(given));
  }
  void decide() noexcept {
    if ((own_ || whole_) && next() < kept().size()) {
      wanted_ = Want::own();
    } else if (whole_ || input_.has_ended()) {
      wanted_ = Want::nothing();
    } else {
      wanted_ = Want::one(0);
      input_.want();
    }
  }

  // Whatever fails, the element goes on.
  void remember(const Slot& slot) noexcept {
    room_ -= slot.bytes();
    if (room_ < 0) return give_up("it may keep no more (CacheOptions::max_bytes)");
    try {
      Slot copy = op_.copy_of(slot);
      if (copy.kind() == Slot::Kind::failed) return give_up("an element could not be copied");
      own_->push_back(std::move(copy));
    } catch (const std::bad_alloc&) {
      give_up("there is no memory");
    }
  }
  void give_up(const char* reason) noexcept {
    own_.reset();
    op_.give_up(reason);
  }

  const CacheOp& op_;
  std::shared_ptr<const Slots> whole_;
  std::shared_ptr<Slots> own_;  // which it is making
  std::int64_t room_ = 0;       // bytes that are left for it
  Want wanted_;
  Stamp pass_;
  CacheInput input_;  // for what is being made, or for this pass
};

CacheOp::CacheOp(detail::CopierRef copier, const CacheOptions& options, const CallSite& site)
    : copier_(std::move(copier)), max_bytes_(options.max_bytes), site_(site) {
  if (max_bytes_ < 0) graph::reject("max_bytes", "0 (a quarter of the free memory) or more", max_bytes_);
}

std::unique_ptr<MergeState> CacheOp::open(std::size_t) const { return std::make_unique<State>(*this); }

std::shared_ptr<const CacheOp::Slots> CacheOp::whole() const {
  MutexLock lock(mutex_);
  return whole_;
}

bool CacheOp::claim() const {
  MutexLock lock(mutex_);
  return !std::exchange(is_claimed_, true);
}

void CacheOp::publish(std::shared_ptr<const Slots> whole) const {
  MutexLock lock(mutex_);
  whole_ = std::move(whole);
}

void CacheOp::let_go() const {
  MutexLock lock(mutex_);
  is_claimed_ = false;
}

void CacheOp::give_up(const char* reason) const {
  std::fprintf(stderr,
               "penstock: cache in line %d of %s remembers nothing any more: %s. What is before it runs again in each "
               "pass. Let it keep more, or cache what is smaller, as files that are not decoded yet\n",
               site_.line, site_.file, reason);
}

std::int64_t CacheOp::most_bytes() const {
  constexpr std::uint64_t kPartOfFreeMemory = 4, kMost = std::uint64_t{1} << 60;
  if (max_bytes_ > 0) return max_bytes_;
  return static_cast<std::int64_t>(std::min(HostLimits().memory().bytes() / kPartOfFreeMemory, kMost));
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
