#include "ops/collect_op.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

// An error that is told when it is certain that its batch would have been whole.
struct Held {
  Slot slot;
  std::int64_t input_number;
};

class State final : public StreamState {
 public:
  State(std::int64_t batch_size, detail::BatchFactoryRef factory, bool drop_remainder)
      : batch_size_(batch_size), factory_(std::move(factory)), drop_remainder_(drop_remainder) {}

  void begin_pass(Emitter&) override { clear(); }
  void element(Slot&& slot, Emitter& out) override {
    last_ = slot.stamp;
    if (fits(slot)) {
      guarded(out, count_ + 1, [&] { add(std::move(slot)); });
    } else {
      ++misfits_;
      tell(std::move(slot), out);
    }
    if (is_certain()) tell_held(out);
    if (count_ == batch_size_) finish(out);
  }
  void error(Slot&& slot, Emitter& out) override {
    last_ = slot.stamp;  // a remainder comes after it: whoever resumes behind that has had the error
    tell(std::move(slot), out);
  }
  void pass_end(Emitter& out) override {
    if (count_ > 0 && !drop_remainder_) finish(out);
    std::erase_if(held_, [](const Held& held) { return held.slot.kind() == Slot::Kind::failed; });
    tell_held(out);
    clear();
  }
  std::int64_t held_bytes() const override { return held_bytes_; }

 private:
  // Makes the slot an error if its element cannot be in this batch.
  bool fits(Slot& slot) {
    try {
      if (!builder_) builder_ = factory_->open(static_cast<std::size_t>(batch_size_));
      builder_->check(slot.value);
      return true;
    } catch (...) {
      slot.fail(detail::current_failure());
      return false;
    }
  }
  void add(Slot&& slot) {
    builder_->add(std::move(slot.value));
    held_bytes_ += slot.value_bytes();
    ++count_;
  }
  // Whether the elements that have come would be a whole batch: what is missing then is lost. Before that they may be a
  // remainder, which is left out with all that does not fit into it.
  bool is_certain() const { return !drop_remainder_ || count_ + misfits_ >= batch_size_; }

  // An error, of an element that does not fit or from before: in its place among the others.
  void tell(Slot&& slot, Emitter& out) {
    const bool is_ours = slot.kind() == Slot::Kind::failed;
    if (held_.empty() && (!is_ours || is_certain())) return out.forward(std::move(slot));
    held_.push_back({std::move(slot), out.input_number()});
  }
  void tell_held(Emitter& out) {
    for (Held& held : held_) out.forward_late(std::move(held.slot), held.input_number);
    held_.clear();
  }

  void finish(Emitter& out) {
    Element batch;
    guarded(out, count_, [&] { batch = builder_->finish(); });
    clear();
    if (!batch.empty()) out.emit(std::move(batch), last_);
  }

  // A builder that threw may hold half an element, so the batch goes with it: `elements` of them.
  template <class Function> void guarded(Emitter& out, std::int64_t elements, Function&& function) {
    try {
      function();
    } catch (...) {
      const auto cause = std::current_exception();
      tell_held(out);
      clear();
      Slot slot({}, last_);
      slot.fail(std::make_exception_ptr(lost_batch(elements, cause)));
      out.forward(std::move(slot));
    }
  }
  void clear() {
    builder_.reset();
    count_ = 0;
    misfits_ = 0;
    held_.clear();
    held_bytes_ = 0;
  }

  std::int64_t batch_size_;
  detail::BatchFactoryRef factory_;
  bool drop_remainder_;
  std::unique_ptr<detail::BatchBuilder> builder_;
  std::int64_t count_ = 0;
  std::int64_t misfits_ = 0;  // since the last batch
  std::vector<Held> held_;    // the first is one of these; fewer than batch_size_ of them, and what came between
  std::int64_t held_bytes_ = 0;
  Stamp last_;
};

}  // namespace

Error lost_batch(std::int64_t elements, const std::exception_ptr& cause) {
  const std::string lost = std::to_string(elements) + (elements == 1 ? " element" : " elements");
  return Error(code_of(cause), "a batch with " + lost + " was lost: " + message_of(cause));
}

CollectOp::CollectOp(std::int64_t batch_size, detail::BatchFactoryRef factory, bool drop_remainder)
    : batch_size_(batch_size), factory_(std::move(factory)), drop_remainder_(drop_remainder) {
  if (batch_size < 1) graph::reject("batch_size", "at least 1", batch_size);
}

std::string CollectOp::parameters() const {
  return "batch_size=" + std::to_string(batch_size_) + (drop_remainder_ ? ", drop_remainder" : "");
}

// As tf.data has it: without drop_remainder only an endless input is sure to have no smaller last
// batch.
Flow CollectOp::flow(const Flow& input) const {
  const bool is_fixed = drop_remainder_ || input.cardinality == INFINITE_CARDINALITY;
  Flow flow{input.cardinality, is_fixed ? batch_size_ : UNKNOWN_CARDINALITY};
  if (input.cardinality >= 0) {
    const bool has_remainder = input.cardinality % batch_size_ != 0 && !drop_remainder_;
    flow.cardinality = input.cardinality / batch_size_ + (has_remainder ? 1 : 0);
  }
  return flow;
}

std::unique_ptr<StreamState> CollectOp::open(std::uint64_t) const {
  return std::make_unique<State>(batch_size_, factory_, drop_remainder_);
}

}  // namespace penstock::ops
