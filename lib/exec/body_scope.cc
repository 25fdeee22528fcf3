#include "lib/exec/body_scope.h"

#include <atomic>
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
  for (const auto& run : nested_) run->leave();
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

bool BodyScope::inside(const BodyScope& other) noexcept {
  const BodyScope* scope = innermost;
  while (scope != nullptr && scope != &other) scope = scope->outer_;
  return scope != nullptr;
}

bool BodyScope::is_unwanted() noexcept { return innermost != nullptr && innermost->is_given_up(); }

bool BodyScope::is_given_up() const noexcept {
  for (const BodyScope* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->host_->stopped()) return true;
    if (scope->context_ != nullptr && scope->context_->stop_token().stop_requested()) return true;  // of a source: its pass
    if (scope->group_ != nullptr && std::atomic_ref(scope->group_->is_unwanted).load(std::memory_order_relaxed)) return true;
  }
  return false;
}

// A call may make any number of runs, one after the other.
std::shared_ptr<NestedRun> BodyScope::nest() {
  const BodyScope* scope = innermost;
  while (scope != nullptr && scope->host_->facts().launcher.is_pumped()) scope = scope->outer_;
  if (scope == nullptr) return nullptr;
  auto& nested = innermost->nested_;
  if (nested.size() == nested.capacity()) std::erase_if(nested, [](const auto& run) { return run->is_over(); });
  nested.push_back(std::make_shared<NestedRun>(*innermost));
  return nested.back();
}

std::uint32_t BodyScope::pass() noexcept {
  return innermost == nullptr || innermost->context_ == nullptr ? 0 : innermost->context_->stamp().pass;
}

}  // namespace penstock::exec
