#include "lib/graph/positions.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lib/graph/node.h"
#include "lib/graph/traits.h"

namespace penstock::graph {
namespace {

class AllPositions final : public IndexSequence {
 public:
  explicit AllPositions(std::int64_t size) : size_(size), next_(size) {}
  void begin_pass(std::uint32_t, std::uint32_t) override { next_ = 0; }
  std::optional<std::int64_t> next() override {
    if (next_ == size_) return std::nullopt;
    return next_++;
  }
  std::size_t next_few(std::span<std::int64_t> positions) override {
    const auto few = std::min<std::int64_t>(std::ssize(positions), size_ - next_);
    std::iota(positions.begin(), positions.begin() + few, next_);
    next_ += few;
    return static_cast<std::size_t>(few);
  }
  void skip(std::int64_t count) override { next_ += std::clamp<std::int64_t>(count, 0, size_ - next_); }
  std::optional<std::int64_t> at(std::int64_t i) const override { return i; }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    return position >= 0 && position < size_ ? position : size_;
  }
  std::int64_t size() const override { return size_; }

 private:
  std::int64_t size_;
  std::int64_t next_;
};

class FirstPositions final : public IndexSequence {
 public:
  FirstPositions(std::unique_ptr<IndexSequence> input, std::int64_t limit) : input_(std::move(input)), limit_(limit) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    left_ = size();
  }
  std::optional<std::int64_t> next() override {
    if (left_ == 0) return std::nullopt;
    --left_;
    return input_->next();
  }
  std::size_t next_few(std::span<std::int64_t> positions) override {
    if (left_ == 0) return 0;
    const auto most = static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(positions), left_));
    --left_;  // one that throws counts, too
    const std::size_t few = input_->next_few(positions.first(most));
    left_ -= static_cast<std::int64_t>(few) - 1;
    return few;
  }
  void skip(std::int64_t count) override {
    const std::int64_t skipped = std::clamp<std::int64_t>(count, 0, left_);
    left_ -= skipped;
    input_->skip(skipped);
  }
  std::optional<std::int64_t> at(std::int64_t i) const override { return input_->at(i); }
  std::optional<std::int64_t> find(std::int64_t position) const override {
    const auto i = input_->find(position);
    return i ? std::optional(std::min(*i, size())) : std::nullopt;
  }
  std::int64_t size() const override { return std::min(limit_, input_->size()); }

 private:
  std::unique_ptr<IndexSequence> input_;
  std::int64_t limit_;
  std::int64_t left_ = 0;
};

}  // namespace

std::unique_ptr<IndexSequence> all_positions(std::int64_t size) { return std::make_unique<AllPositions>(size); }

std::unique_ptr<IndexSequence> first_positions(std::unique_ptr<IndexSequence> order, std::int64_t count) {
  return std::make_unique<FirstPositions>(std::move(order), count);
}

Positions positions_of(std::shared_ptr<const IndexedSource> source, bool is_plain) {
  const std::int64_t size = source->size();
  return {.source = std::move(source),
          .order = [size] { return all_positions(size); },
          .is_plain = is_plain,
          .is_in_turn = true};
}

std::optional<Positions> merged_positions(const Node& merge, std::vector<Positions> inputs) {
  const auto* op = merge.as<MergesPositions>();
  if (op == nullptr || !std::ranges::all_of(inputs, &Positions::is_plain)) return std::nullopt;
  return op->over_positions(std::move(inputs));
}

std::optional<Positions> positions_behind(const NodeRef& owner, const Node& node, const Positions& input) {
  if (node.kind() != Kind::stream) return std::nullopt;  // the source of another input, or a merge
  if (node.as<MergesPositions>() != nullptr) return merged_positions(node, {input});
  const std::shared_ptr<const StreamOp> op(owner, node.as<StreamOp>());
  if (op->over_index(input.order()) == nullptr) return std::nullopt;
  const bool selects_the_same = node.as<SelectsTheSame>() != nullptr;
  return Positions{.source = input.source,
                   .order = [before = input.order, op] { return op->over_index(before()); },
                   .is_fixed = input.is_fixed && selects_the_same,
                   .is_plain = input.is_plain && (selects_the_same || node.as<ShufflesOrder>() != nullptr)};
}

std::optional<Positions> positions_up_to(const NodeRef& node) {
  if (node->inputs().empty()) {
    const auto* source = node->as<SourceOp>()->indexed();
    if (source == nullptr) return std::nullopt;
    return positions_of({node, source}, node->gives() == nullptr);
  }
  std::vector<Positions> inputs;
  for (const NodeRef& input : node->inputs()) {
    auto positions = positions_up_to(input);
    if (!positions) return std::nullopt;
    inputs.push_back(std::move(*positions));
  }
  if (node->kind() == Kind::merge) return merged_positions(*node, std::move(inputs));
  return positions_behind(node, *node, inputs.front());
}

}  // namespace penstock::graph
