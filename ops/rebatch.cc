#include "ops/rebatch.h"

#include <penstock/ops.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

class State final : public StreamState {
 public:
  State(const std::vector<std::int64_t>& sizes, const detail::RowQueueFactory& factory, bool drop_remainder)
      : sizes_(sizes), factory_(factory), drop_remainder_(drop_remainder) {}

  void begin_pass(Emitter&) override { clear(); }
  void element(Slot&& slot, Emitter& out) override {
    add(std::move(slot), out.input_number());
    while (rows_->size() >= wanted()) give(wanted(), out);
  }
  void pass_end(Emitter& out) override {
    if (rows_ && rows_->size() > 0 && !drop_remainder_) give(rows_->size(), out);
    clear();
  }
  std::int64_t held_bytes() const override { return held_bytes_; }
  bool save(StateWriter& out) const override {
    out.number(static_cast<std::int64_t>(next_));
    out.number(used_);
    for (const Batch& batch : batches_) out.held(batch.input);
    return true;
  }
  void restore(StateReader& in) override {
    next_ = static_cast<std::size_t>(in.count());
    const std::int64_t used = in.count();
    while (in.has_held()) {
      auto [slot, input] = in.take_held();
      add(std::move(slot), input);
    }
    if (used == 0) return;
    if (batches_.empty() || used >= batches_.front().rows) StateReader::refuse();
    rows_->drop(used);
    count_taken(used);
  }

 private:
  struct Batch {
    std::int64_t rows, bytes, input;
  };

  void add(Slot&& slot, std::int64_t input) {
    if (!rows_) rows_ = factory_.open();
    const std::int64_t bytes = slot.value_bytes();
    const std::int64_t before = rows_->size();
    const Stamp stamp = slot.stamp;
    rows_->add(std::move(slot.value));
    last_ = stamp;  // not of one that failed: it is none of the rows
    batches_.push_back({rows_->size() - before, bytes, input});
    held_bytes_ += bytes;
  }

  std::int64_t wanted() const { return sizes_[next_ % sizes_.size()]; }
  void give(std::int64_t count, Emitter& out) {
    ++next_;
    count_taken(count);
    out.emit(rows_->take(count), last_);
  }
  // A row may be a view of its batch, which is there until its last row has gone.
  void count_taken(std::int64_t rows) {
    for (; !batches_.empty() && rows >= batches_.front().rows; batches_.pop_front()) {
      rows -= batches_.front().rows;
      held_bytes_ -= batches_.front().bytes;
      used_ = 0;
    }
    if (batches_.empty()) return;
    batches_.front().rows -= rows;
    used_ += rows;
  }
  void clear() {
    rows_.reset();
    batches_.clear();
    used_ = 0;
    next_ = 0;
    held_bytes_ = 0;
  }

  const std::vector<std::int64_t>& sizes_;  // of the op, which lives longer
  const detail::RowQueueFactory& factory_;
  const bool drop_remainder_;
  std::unique_ptr<detail::RowQueue> rows_;  // of this pass; none before its first batch
  std::deque<Batch> batches_;               // that they are of, with as many rows as are still there
  std::int64_t used_ = 0;                   // rows of the first of them that are not
  std::size_t next_ = 0;                    // how many batches have been given
  std::int64_t held_bytes_ = 0;
  Stamp last_;
};

}  // namespace

RebatchOp::RebatchOp(std::vector<std::int64_t> sizes, detail::RowQueueFactoryRef factory, const BatchOptions& options)
    : sizes_(std::move(sizes)), factory_(std::move(factory)), drop_remainder_(options.drop_remainder) {
  if (sizes_.empty()) throw Error(ErrorCode::invalid_argument, "batch_sizes is empty; give at least one size");
  for (const std::int64_t size : sizes_) {
    if (size < 1) graph::reject("batch_size", "at least 1", size);
  }
}

std::string RebatchOp::parameters() const {
  std::string text = sizes_.size() == 1 ? "batch_size=" : "batch_sizes=";
  for (const std::int64_t size : sizes_) text += std::to_string(size) + " ";
  text.pop_back();
  return text + (drop_remainder_ ? ", drop_remainder" : "");
}

// As tf.data has it: also where the number of rows is known.
Flow RebatchOp::flow(const Flow& input) const {
  const bool is_fixed = drop_remainder_ && std::ranges::count(sizes_, sizes_.front()) == std::ssize(sizes_);
  return {.cardinality = input.cardinality == INFINITE_CARDINALITY ? INFINITE_CARDINALITY : UNKNOWN_CARDINALITY,
          .leading_dimension = is_fixed ? sizes_.front() : UNKNOWN_CARDINALITY};
}

std::unique_ptr<StreamState> RebatchOp::open(std::uint64_t) const {
  return std::make_unique<State>(sizes_, *factory_, drop_remainder_);
}

OpRef rebatch(std::vector<std::int64_t> sizes, detail::RowQueueFactoryRef factory, const BatchOptions& options) {
  return std::make_shared<RebatchOp>(std::move(sizes), std::move(factory), options);
}

}  // namespace penstock::ops
