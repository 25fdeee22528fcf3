#include "lib/exec/trace.h"

#include <new>
#include <utility>

namespace penstock::exec {

Trace::Key Trace::key_of(const Stamp& stamp) noexcept {
  const std::uint64_t pass = std::uint64_t{stamp.epoch} << 32 | stamp.pass;
  return mix64(static_cast<std::uint64_t>(stamp.ordinal) ^ mix64(pass + mix64(stamp.source)));
}

std::vector<Trace::Key> Trace::keys_of(const Slots& slots) {
  std::vector<Key> keys;
  keys.reserve(slots.size());
  for (const Slot& slot : slots) {
    if (slot.is_item()) keys.push_back(key_of(slot.stamp));
  }
  return keys;
}

void Trace::add(Span span) {
  if (is_full_.load(std::memory_order_relaxed)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  MutexLock lock(mutex_);
  if (is_closed_) return;
  if (spans_.size() >= room_.spans) {
    is_full_ = true;
    ++dropped_;
    return;
  }
  if (keys_ + span.keys.size() > room_.keys) span.keys = {};
  const std::size_t keys = span.keys.size();
  try {
    spans_.push_back(std::move(span));
    keys_ += keys;
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

void Trace::look(const Snapshot& now) {
  Look look{.time_ns = now.time_ns,
            .stages = {},
            .ready = now.consumer.ready,
            .memory = now.memory_used,
            .permits = now.cpu_slots_in_use};
  for (const StageSnapshot& stage : now.stages)
    look.stages.push_back({stage.running, stage.ready + stage.waiting_input});
  MutexLock lock(mutex_);
  if (is_closed_) return;
  if (looks_.size() >= room_.looks) {
    ++dropped_;
  } else {
    looks_.push_back(std::move(look));
  }
}

void Trace::close() {
  MutexLock lock(mutex_);
  is_closed_ = true;
}

// Where several elements are taken together, the last one stands for all. A packet of batches has only one.
void StepTrace::begin(const Slots& taken) {
  if (trace_ == nullptr) return;
  step_.emplace();
  step_->kind = Trace::Span::Kind::step;
  step_->thread = machine_.thread_number();
  step_->begin_ns = machine_.now();
  auto keys = Trace::keys_of(taken);
  step_->elements = static_cast<std::int64_t>(keys.size());
  if (!keys.empty()) step_->keys = {keys.back()};
}

void StepTrace::end() {
  if (!step_) return;
  step_->end_ns = machine_.now();
  if (step_->elements > 0) trace_->add(std::move(*step_));
  step_.reset();
}

void StepTrace::waited(std::int64_t from_ns) const {
  if (trace_ == nullptr) return;
  trace_->add({.kind = Trace::Span::Kind::wait,
               .thread = machine_.thread_number(),
               .begin_ns = from_ns,
               .end_ns = machine_.now()});
}

}  // namespace penstock::exec
