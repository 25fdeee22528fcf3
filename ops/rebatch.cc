#include "ops/rebatch.h"

#include <penstock/ops.h>

#include <algorithm>
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
    if (!rows_) rows_ = factory_.open();
    const std::int64_t before = rows_->size();
    const std::int64_t bytes = slot.value_bytes();
    last_ = slot.stamp;
    rows_->add(std::move(slot.value));
    count(bytes, rows_->size() - before);
    while (rows_->size() >= wanted()) give(wanted(), out);
  }
  void pass_end(Emitter& out) override {
    if (rows_ && rows_->size() > 0 && !drop_remainder_) give(rows_->size(), out);
    clear();
  }
  std::int64_t held_bytes() const override { return static_cast<std::int64_t>(bytes_of_row_ * rows_held()); }

 private:
  std::int64_t wanted() const { return sizes_[next_ % sizes_.size()]; }
  double rows_held() const { return rows_ ? static_cast<double>(rows_->size()) : 0; }
  void give(std::int64_t count, Emitter& out) {
    ++next_;
    out.emit(rows_->take(count), last_);
  }
  // Of the batches that have come, an equal part for each row that is still there.
  void count(std::int64_t bytes, std::int64_t rows) {
    const double before = bytes_of_row_ * (rows_held() - static_cast<double>(rows));
    bytes_of_row_ = rows_held() > 0 ? (before + static_cast<double>(bytes)) / rows_held() : 0;
  }
  void clear() {
    rows_.reset();
    next_ = 0;
    bytes_of_row_ = 0;
  }

  const std::vector<std::int64_t>& sizes_;  // of the op, which lives longer
  const detail::RowQueueFactory& factory_;
  const bool drop_remainder_;
  std::unique_ptr<detail::RowQueue> rows_;  // of this pass; none before its first batch
  std::size_t next_ = 0;                    // how many batches have been given
  double bytes_of_row_ = 0;
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

// As tf.data has it.
Flow RebatchOp::flow(const Flow&) const {
  const bool is_fixed = drop_remainder_ && std::ranges::count(sizes_, sizes_.front()) == std::ssize(sizes_);
  return {.leading_dimension = is_fixed ? sizes_.front() : UNKNOWN_CARDINALITY};
}

std::unique_ptr<StreamState> RebatchOp::open(std::uint64_t) const {
  return std::make_unique<State>(sizes_, *factory_, drop_remainder_);
}

OpRef rebatch(std::vector<std::int64_t> sizes, detail::RowQueueFactoryRef factory, const BatchOptions& options) {
  return std::make_shared<RebatchOp>(std::move(sizes), std::move(factory), options);
}

}  // namespace penstock::ops
