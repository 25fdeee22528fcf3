#include "ops/shuffle.h"

#include <penstock/ops.h>

#include <algorithm>

#include "lib/core/chunked.h"
#include "lib/core/permutation.h"

namespace penstock::ops {
namespace {

// Keeps the draws apart from those of Context::rng(), which a user may have given the same seed.
constexpr std::uint64_t stream_of_shuffle = 0x73687566666C65;  // "shuffle"

// Positions that a window holds.
class Positions {
 public:
  void push_back(std::int64_t position) { held_.push_back(position); }
  std::size_t size() const noexcept { return held_.size(); }
  bool empty() const noexcept { return held_.empty(); }
  void clear() noexcept { held_.clear(); }
  void swap_with_last(std::size_t i) noexcept { std::swap(held_[i], held_.back()); }
  std::int64_t take_last() noexcept {
    const std::int64_t last = held_.back();
    held_.pop_back();
    return last;
  }

 private:
  Chunked<std::int64_t> held_;
};

class PermutedSequence final : public IndexSequence {
 public:
  PermutedSequence(std::unique_ptr<IndexSequence> input, const ShuffleKey& key)
      : input_(std::move(input)), key_(key), next_(input_->size()) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    list_input();
    const auto count = static_cast<std::uint64_t>(size());
    order_ = KeyedPermutation(count, {key_.seed, key_.when(epoch, pass)});
    next_ = 0;
  }
  std::optional<std::int64_t> next() override {
    if (next_ == size()) return std::nullopt;
    return at(next_++);
  }
  void skip(std::int64_t count) override { next_ += std::clamp<std::int64_t>(count, 0, size() - next_); }
  std::optional<std::int64_t> at(std::int64_t i) const override {
    const auto from = static_cast<std::int64_t>(order_(static_cast<std::uint64_t>(i)));
    return listed_.empty() ? input_->at(from) : listed_[static_cast<std::size_t>(from)];
  }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    const auto from = listed_.empty() ? input_->find(position) : std::nullopt;
    if (!from || *from == size()) return from;
    return static_cast<std::int64_t>(order_.inverse(static_cast<std::uint64_t>(*from)));
  }
  std::int64_t size() const override { return input_->size(); }

 private:
  // Only behind a window shuffle, which cannot tell its i-th position: 8 bytes a position.
  void list_input() {
    listed_.clear();
    if (size() == 0 || input_->at(0)) return;
    while (const auto position = input_->next()) listed_.push_back(*position);
  }

  std::unique_ptr<IndexSequence> input_;
  ShuffleKey key_;
  KeyedPermutation order_{0, {}};
  std::vector<std::int64_t> listed_;
  std::int64_t next_;
};

}  // namespace

std::uint64_t ShuffleKey::when(std::uint32_t epoch, std::uint32_t pass) const {
  return reshuffle ? std::uint64_t{epoch} << 32 | pass : 0;
}

CounterRng ShuffleKey::rng(std::uint32_t epoch, std::uint32_t pass) const {
  return reshuffle ? make_rng(seed, epoch, pass, 0, stream_of_shuffle) : make_rng(seed, 0, 0, 0, stream_of_shuffle);
}

ShuffleOp::ShuffleOp(std::int64_t buffer_size, const ShuffleOptions& options)
    : BufferedShuffleOp(buffer_size, options), key_{seed().value, options.reshuffle_each_epoch} {
  if (options.global_seed)
    throw Error(ErrorCode::invalid_argument,
                "global_seed is for ShuffleOrder::tensorflow: give seed alone, or this order");
}

Flow ShuffleOp::flow(const Flow& input) const {
  Flow flow = BufferedShuffleOp::flow(input);
  check_can_permute(input.cardinality);
  return flow;
}

// A buffer for all of them would be no smaller.
void ShuffleOp::check_can_permute(std::int64_t elements) const {
  constexpr auto most = static_cast<std::int64_t>(KeyedPermutation::most_positions);
  if (elements <= most || capacity() < elements) return;
  throw Error(ErrorCode::invalid_argument,
              "buffer_size has room for all " + std::to_string(elements) +
                  " elements, but at most 2^62 = " + std::to_string(most) +
                  " can be shuffled as one: give a smaller number, or shuffle parts (shard, take, skip)");
}

std::unique_ptr<StreamState> ShuffleOp::open(std::uint64_t) const {
  return std::make_unique<ShuffleState<ShuffleWindow<ElementStore>, ShuffleKey>>(capacity(), key_);
}

std::unique_ptr<IndexSequence> ShuffleOp::over_index(std::unique_ptr<IndexSequence> input) const {
  if (capacity() >= input->size()) return std::make_unique<PermutedSequence>(std::move(input), key_);
  return std::make_unique<ShuffleSequence<ShuffleWindow<Positions>, ShuffleKey>>(std::move(input), capacity(), key_);
}

OpRef shuffle(std::int64_t buffer_size, const ShuffleOptions& options) {
  return std::make_shared<ShuffleOp>(buffer_size, options);
}

}  // namespace penstock::ops
