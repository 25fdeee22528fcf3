#include "lib/exec/body_scope.h"

#include <atomic>
#include <new>
#include <utility>

namespace penstock::exec {
namespace {

thread_local const BodyScope* innermost = nullptr;

}  // namespace

BodyScope::BodyScope(StageHost* host, Group* group, const Context* context) noexcept
    : host_(host), group_(group), context_(context), outer_(innermost) {
  innermost = this;
}
BodyScope::~BodyScope() {
  innermost = outer_;
  for (auto& run : nested_) outlive(std::move(run));
}

// A run that was made in this call and outlives it: it belongs to the call around from now on, or to the outer run.
void BodyScope::outlive(std::shared_ptr<NestedRun> run) const noexcept {
  if (run->is_over()) return;
  const BodyScope* const call = call_around();
  if (call == nullptr) {
    return run->belong_to(host_->facts().stop, host_->facts().made_as, stop(), sequence());
  }
  try {
    run->belong_to(*call);
    call->note(run);
  } catch (const std::bad_alloc&) {  // nobody would tell it that the call is over
    run->leave();
  }
}

// A call may make any number of runs, one after the other.
void BodyScope::note(std::shared_ptr<NestedRun> run) const {
  if (nested_.size() == nested_.capacity()) {
    std::erase_if(nested_, [](const auto& other) { return other->is_over(); });
    nested_.reserve(2 * nested_.size() + 1);
  }
  nested_.push_back(std::move(run));
}

const BodyScope* BodyScope::exchange(const BodyScope* scope) noexcept { return std::exchange(innermost, scope); }
bool BodyScope::inside_any() noexcept { return innermost != nullptr; }
int BodyScope::depth() noexcept {
  int depth = 0;
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) ++depth;
  return depth;
}
bool BodyScope::inside(const StageHost* host) noexcept {
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->host_ == host) return true;
  }
  return false;
}

bool BodyScope::inside(const BodyScope* other) noexcept {
  const BodyScope* scope = innermost;
  while (scope != nullptr && scope != other) scope = scope->outer_;
  return scope != nullptr;
}

bool BodyScope::is_innermost(const Group& group) noexcept {
  return innermost != nullptr && innermost->group_ == &group;
}

void BodyScope::note_cuts() noexcept {
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    const NestedRun* const nested = scope->host_->facts().nested;
    if (nested != nullptr && nested->is_unwanted()) nested->note_cut();
  }
}

void BodyScope::note_cuts_inside(const Group& group) noexcept {
  const BodyScope* call = innermost;
  while (call != nullptr && call->group_ != &group) call = call->outer_;
  if (call == nullptr) return;
  for (const BodyScope* scope = innermost; scope != call; scope = scope->outer_) {
    if (const NestedRun* const nested = scope->host_->facts().nested) nested->note_cut();
  }
}

const BodyScope* BodyScope::find(const std::stop_token& run, const NestedRun* made_as) noexcept {
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->run() == run || (made_as != nullptr && scope->host_->facts().made_as == made_as)) return scope;
  }
  return nullptr;
}

const std::stop_token& BodyScope::stop() const noexcept {
  static const std::stop_token none;
  return context_ != nullptr ? context_->stop_token() : none;
}

std::uint64_t BodyScope::sequence_here() noexcept { return innermost != nullptr ? innermost->sequence() : 0; }

std::uint64_t BodyScope::sequence() const noexcept { return context_ != nullptr ? context_->stamp().sequence : 0; }

// Whoever asks may leave results out, and so those around get less.
bool BodyScope::is_unwanted() noexcept {
  if (innermost == nullptr || !innermost->is_given_up()) return false;
  note_cuts();
  return true;
}

// Null if this scope's run belongs to no call: others may want the results of a shared run, whoever reads it now.
const BodyScope* BodyScope::call_around() const noexcept {
  const NestedRun* const nested = host_->facts().nested;
  return nested != nullptr ? nested->call() : nullptr;
}

bool BodyScope::is_given_up() const noexcept {
  for (const BodyScope* scope = this; scope != nullptr; scope = scope->call_around()) {
    if (scope->is_given_up_itself()) return true;
  }
  return false;
}

bool BodyScope::is_given_up_itself() const noexcept {
  if (host_->stopped()) return true;
  if (context_ != nullptr && context_->stop_token().stop_requested()) return true;  // of a source: its pass
  return group_ != nullptr && std::atomic_ref(group_->is_unwanted).load(std::memory_order_relaxed);
}

std::shared_ptr<NestedRun> BodyScope::nest() {
  const BodyScope* scope = innermost;
  while (scope != nullptr && scope->host_->facts().launcher.is_pumped()) scope = scope->outer_;
  if (scope == nullptr) return nullptr;
  auto run = std::make_shared<NestedRun>(*innermost);
  innermost->note(run);
  return run;
}

std::uint32_t BodyScope::pass() noexcept {
  return innermost == nullptr || innermost->context_ == nullptr ? 0 : innermost->context_->stamp().pass;
}

}  // namespace penstock::exec
