#include "lib/exec/fused_body.h"

#include <algorithm>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "lib/core/byte_count.h"
#include "lib/exec/error_element.h"

namespace penstock::exec {
namespace {

// What the ops ask is asked of the call. No op may have it broken off: the input is
// gone as soon as the first one has run.
class FusedCall final : private detail::ContextServices, private detail::OutputRows {
 public:
  FusedCall(Context& call, const std::vector<FusedOp>& ops, const BodyHost& host)
      : call_(call), ops_(ops), host_(host) {
    detail::ContextServices* const services = this;
    for (const FusedOp& op : ops) {
      detail::OutputRows* const rows = &op == &ops.back() ? this : nullptr;  // others' results lie in no batch
      contexts_.emplace_back(call.stop_token(), mix64(host.run_seed() + op.random_key), services, rows);
    }
  }

  // Inputs of the group, through one op after the other. `first`: the number of the first one in its pass. Returns the
  // bytes of what lay between two ops, which the call needs beside its results.
  std::int64_t run(Group& group, std::span<Slot> few, std::int64_t first) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      bytes_between_ = 0;
      for (std::size_t begin = 0, end = 0; begin < few.size(); begin = end) {
        end = begin + 1;
        if (!few[begin].is_element()) continue;
        while (end < few.size() && few[end].is_element()) ++end;
        ops_[i].op->run(few.subspan(begin, end - begin), contexts_[i]);
      }
      for (std::size_t n = 0; n < few.size(); ++n) finish(group, few[n], ops_[i], first + static_cast<std::int64_t>(n));
      if (i + 1 < ops_.size()) most = std::max(most, bytes_between_);
    }
    count_need(most);
    return most;
  }

 private:
  // It is given back as the call ends, so only what is more than before is asked for.
  void count_need(std::int64_t bytes) {
    if (bytes <= counted_) return;
    call_.reserve(static_cast<std::size_t>(bytes - std::exchange(counted_, bytes)));
  }

  // As seal() looks at a result: a user's bytes_of may throw.
  void look_at(Slot& slot) {
    if (slot.value.same_bytes() != nullptr) return;
    try {
      bytes_between_ += byte_count(slot.value.bytes());
    } catch (...) {
      slot.fail(detail::current_failure());
    }
  }

  void finish(Group& group, Slot& slot, const FusedOp& op, std::int64_t number) {
    if (slot.is_element()) look_at(slot);
    if (slot.kind() != Slot::Kind::failed) return;
    make_error(slot, op.label, number, [this](const Stamp& stamp) { return host_.item(stamp); });
    slot.set_bytes(static_cast<std::int64_t>(sizeof(Slot)));
    ++group.errors_inside;
  }

  std::string origin(const Stamp& stamp) const override { return host_.item(stamp).name; }
  bool try_reserve(std::int64_t bytes, bool) override {
    call_.reserve(static_cast<std::size_t>(bytes));
    return true;
  }
  bool is_unwanted(bool) const noexcept override { return call_.is_unwanted(); }
  void count_dropped(std::int64_t errors) noexcept override { call_.count_dropped(errors); }
  std::int64_t memory_budget() const noexcept override { return call_.memory_budget(); }

  std::int64_t enter(const Slot& slot) noexcept override {
    call_.enter(slot);
    return 0;
  }
  void declare(std::int64_t, std::size_t count) noexcept override { call_.outputs().declare(count); }
  Tensor row(std::int64_t, std::size_t i, DType type, const Shape& shape) override {
    return call_.outputs().slot(i, type, shape);
  }

  Context& call_;
  const std::vector<FusedOp>& ops_;
  const BodyHost& host_;
  std::deque<Context> contexts_;  // one for each op; they cannot be moved
  std::int64_t bytes_between_ = 0, counted_ = 0;
};

constexpr std::size_t kMostAtOnce = 8;
constexpr std::int64_t kQuick = 2'000;                  // ns for an element
constexpr std::int64_t kSmall = std::int64_t{1} << 16;  // bytes of all that lies between two ops

}  // namespace

// A call may end, and what is done may leave, after each few elements: after each one, where the last ones were slow or
// large, and in groups that are small because their elements are dear.
void FusedBody::run(Group& group, Context& context) {
  FusedCall call(context, ops_, host_);
  context.follow(group.is_open() ? &group.call->progress : nullptr, 0, {});
  const std::span<Slot> slots(group.slots);
  const std::size_t most = std::clamp<std::size_t>(slots.size() / 16, 1, kMostAtOnce);
  std::size_t done = 0, at_once = 1;
  while (done < slots.size() && context.go_on(done)) {
    const std::size_t few = std::min(at_once, slots.size() - done);
    const std::int64_t begin = host_.now();
    const std::int64_t bytes =
        call.run(group, slots.subspan(done, few), group.place.first_ordinal + static_cast<std::int64_t>(done));
    const bool is_quick = host_.now() - begin < kQuick * static_cast<std::int64_t>(few);
    at_once = is_quick && bytes < kSmall ? std::min(2 * at_once, most) : 1;
    done += few;
  }
  group.give_back(done);
}

}  // namespace penstock::exec
