#include "ops/merging.h"

#include <array>
#include <limits>
#include <utility>

namespace penstock::ops {
namespace {

// The position of a row is that of its first input's element.
class Rows final : public IndexedSource {
 public:
  Rows(std::span<const graph::Positions> inputs, MakeRow make) : make_(std::move(make)) {
    for (const graph::Positions& input : inputs) {
      sources_.push_back(input.source);
      orders_.push_back(input.is_in_turn ? nullptr : input.order());
      if (orders_.back()) orders_.back()->begin_pass(0, 0);
    }
  }

  std::int64_t size() const override { return sources_.front()->size(); }
  std::string origin(std::int64_t position) const override { return sources_.front()->origin(position); }
  Element at(std::int64_t position) const override {
    if (sources_.size() == 1) return row_at<1>(position);
    return sources_.size() == 2 ? row_at<2>(position) : row_at<kMostParts>(position);
  }

 private:
  template <std::size_t most_parts> Element row_at(std::int64_t position) const {
    const std::int64_t row = orders_.front() ? orders_.front()->find(position).value() : position;
    std::array<Element, most_parts> parts;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      parts[i] = sources_[i]->at(i == 0 ? position : orders_[i] ? orders_[i]->at(row).value() : row);
      parts[i].own();
    }
    return make_(row, std::span(parts).first(sources_.size()));
  }

  const MakeRow make_;
  std::vector<std::shared_ptr<const IndexedSource>> sources_;
  std::vector<std::unique_ptr<IndexSequence>> orders_;  // fixed: at() and find() alone are asked; null: in turn
};

}  // namespace

std::shared_ptr<const JoinedSource> JoinedSource::of(std::span<const graph::Positions> inputs) {
  auto joined = std::make_shared<JoinedSource>();
  for (const graph::Positions& input : inputs) {
    const std::int64_t start = joined->starts_.back(), size = input.source->size();
    if (size >= graph::kEndless - start) return nullptr;
    joined->sources_.push_back(input.source);
    joined->starts_.push_back(start + size);
  }
  return joined;
}

std::size_t last_start_up_to(std::int64_t position, std::span<const std::int64_t> starts) {
  return count_up_to(starts.first(starts.size() - 1), position) - 1;
}

Element JoinedSource::at(std::int64_t position) const {
  const std::size_t input = input_of(position);
  return sources_[input]->at(position - starts_[input]);
}

std::string JoinedSource::origin(std::int64_t position) const {
  const std::size_t input = input_of(position);
  return sources_[input]->origin(position - starts_[input]);
}

JoinedOrders::JoinedOrders(std::shared_ptr<const JoinedSource> source, std::span<const graph::Positions> inputs)
    : source_(std::move(source)) {
  for (const graph::Positions& input : inputs) orders_.push_back(input.order());
}

void JoinedOrders::begin_pass(std::uint32_t epoch, std::uint32_t pass) {
  for (auto& order : orders_) order->begin_pass(epoch, pass);
}

std::size_t JoinedOrders::next_few(std::size_t input, std::span<std::int64_t> positions) {
  const std::size_t few = order(input).next_few(positions);
  for (std::int64_t& position : positions.first(few)) position += source_->start_of(input);
  return few;
}

std::optional<std::int64_t> JoinedOrders::joined(std::size_t input, std::optional<std::int64_t> position) const {
  return position ? std::optional(source_->start_of(input) + *position) : std::nullopt;
}

graph::Positions rows_of(std::span<const graph::Positions> inputs, MakeRow make) {
  std::int64_t size = std::numeric_limits<std::int64_t>::max();
  for (const graph::Positions& input : inputs) size = std::min(size, input.order()->size());
  auto order = [first = inputs.front().order, size] { return graph::first_positions(first(), size); };
  return {.source = std::make_shared<Rows>(inputs, std::move(make)),
          .order = std::move(order),
          .is_in_turn = inputs.front().is_in_turn};
}

}  // namespace penstock::ops
