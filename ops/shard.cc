#include "ops/shard.h"

#include <penstock/ops.h>

#include <algorithm>
#include <utility>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

std::int64_t share(std::int64_t count, std::int64_t num_shards, std::int64_t index) {
  return count / num_shards + (index < count % num_shards ? 1 : 0);
}

class State final : public StreamState {
 public:
  State(std::int64_t num_shards, std::int64_t index) : num_shards_(num_shards), index_(index) {}
  void begin_pass(Emitter&) override { position_ = 0; }
  void element(Slot&& slot, Emitter& out) override {
    if (is_ours()) out.emit(std::move(slot.value), slot.stamp);
  }
  void error(Slot&& slot, Emitter& out) override {
    if (is_ours()) out.forward(std::move(slot));
  }
  bool save(StateWriter& out) const override {
    out.number(position_ % num_shards_);
    return true;
  }
  void restore(StateReader& in) override { position_ = in.number(0, num_shards_ - 1); }

 private:
  bool is_ours() { return position_++ % num_shards_ == index_; }

  std::int64_t num_shards_;
  std::int64_t index_;
  std::int64_t position_ = 0;
};

class Sequence final : public IndexSequence {
 public:
  Sequence(std::unique_ptr<IndexSequence> input, std::int64_t num_shards, std::int64_t index)
      : input_(std::move(input)), num_shards_(num_shards), index_(index) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    gap_ = index_;
  }
  std::optional<std::int64_t> next() override {
    input_->skip(gap_);
    gap_ = num_shards_ - 1;
    return input_->next();
  }
  void skip(std::int64_t count) override {
    if (count <= 0) return;
    input_->skip(count >= size() ? input_->size() : count * num_shards_);
  }
  std::optional<std::int64_t> at(std::int64_t i) const override { return input_->at(i * num_shards_ + index_); }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    const auto i = input_->find(position);
    if (!i) return std::nullopt;
    const bool is_ours = *i < input_->size() && *i % num_shards_ == index_;
    return is_ours ? *i / num_shards_ : size();
  }
  std::int64_t size() const override { return share(input_->size(), num_shards_, index_); }

 private:
  std::unique_ptr<IndexSequence> input_;
  std::int64_t num_shards_;
  std::int64_t index_;
  std::int64_t gap_ = 0;  // others' positions before our next one
};

}  // namespace

ShardOp::ShardOp(std::int64_t num_shards, std::int64_t index, bool is_among_ranks)
    : num_shards_(num_shards), index_(index), is_among_ranks_(is_among_ranks) {
  if (num_shards < 1) graph::reject("num_shards", "at least 1", num_shards);
  if (index < 0 || index >= num_shards)
    graph::reject("index", "at least 0 and below num_shards = " + std::to_string(num_shards), index);
}

std::string ShardOp::parameters() const {
  return "num_shards=" + std::to_string(num_shards_) + ", index=" + std::to_string(index_);
}

Flow ShardOp::flow(const Flow& input) const {
  Flow flow = input;
  if (input.cardinality >= 0) flow.cardinality = share(input.cardinality, num_shards_, index_);
  return flow;
}

std::unique_ptr<StreamState> ShardOp::open(std::uint64_t) const { return std::make_unique<State>(num_shards_, index_); }

std::unique_ptr<IndexSequence> ShardOp::over_index(std::unique_ptr<IndexSequence> input) const {
  return std::make_unique<Sequence>(std::move(input), num_shards_, index_);
}

OpRef shard(std::int64_t num_shards, std::int64_t index) { return std::make_shared<ShardOp>(num_shards, index); }

OpRef shard(const World& world) { return std::make_shared<ShardOp>(world.size, world.rank, true); }

}  // namespace penstock::ops
