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
  for (const auto& run : nested_) run->leave(*this);
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

bool BodyScope::is_unwanted() noexcept { return innermost != nullptr && innermost->is_given_up(); }

bool BodyScope::is_given_up() const noexcept {
  for (const BodyScope* scope = this; scope != nullptr; scope = scope->outer_) {
    if (scope->host_->stopped()) return true;
    if (scope->group_ != nullptr && std::atomic_ref(scope->group_->is_unwanted).load(std::memory_order_relaxed)) return true;
  }
  return false;
}

bool BodyScope::inside_threads() noexcept {
  for (const BodyScope* scope = innermost; scope != nullptr; scope = scope->outer_) {
    if (!scope->host_->launcher().is_pumped()) return true;
  }
  return false;
}

// A call may read any number of runs, one after the other.
void BodyScope::adopt(const std::shared_ptr<NestedRun>& run) {
  if (innermost == nullptr || run->is_in(*innermost)) return;
  auto& nested = innermost->nested_;
  if (nested.size() == nested.capacity()) std::erase_if(nested, [](const auto& other) { return other->is_gone(); });
  nested.push_back(run);
  run->enter(*innermost);
}

std::uint32_t BodyScope::pass() noexcept {
  return innermost == nullptr || innermost->context_ == nullptr ? 0 : innermost->context_->stamp().pass;
}

}  // namespace penstock::exec
