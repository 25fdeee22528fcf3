// What merging ops have in common.
#pragma once

#include <penstock/op.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/positions.h"

namespace penstock::ops {

inline bool any_is(std::span<const Flow> inputs, std::int64_t cardinality) {
  return std::ranges::find(inputs, cardinality, &Flow::cardinality) != inputs.end();
}

// Of an op that gives what some inputs have, and nobody knows of which how much. As tf.data has it: endless where all
// are.
inline std::int64_t cardinality_of_mixed(std::span<const Flow> inputs) {
  const bool is_endless = std::ranges::all_of(
      inputs, [](std::int64_t each) { return each == INFINITE_CARDINALITY; }, &Flow::cardinality);
  return is_endless ? INFINITE_CARDINALITY : UNKNOWN_CARDINALITY;
}

// Of elements of any of the inputs.
inline std::int64_t leading_dimension_of_all(std::span<const Flow> inputs) {
  const std::int64_t first = inputs.front().leading_dimension;
  const bool is_one = std::ranges::all_of(
      inputs, [first](std::int64_t each) { return each == first; }, &Flow::leading_dimension);
  return is_one ? first : UNKNOWN_CARDINALITY;
}

// ------------------------------------------------------------------------------------------------ save points

// Of the first `inputs`, those of which something holds, for restore_inputs().
template <class Holds> void save_inputs(StateWriter& out, std::size_t inputs, Holds holds) {
  for (std::size_t input = 0; input < inputs; ++input) {
    if (holds(input)) out.number(static_cast<std::int64_t>(input));
  }
  out.number(-1);
}

template <class Note> void restore_inputs(StateReader& in, std::size_t inputs, Note note) {
  const std::int64_t last = static_cast<std::int64_t>(inputs) - 1;
  for (std::int64_t input = 0; (input = in.number(-1, last)) >= 0;) note(static_cast<std::size_t>(input));
}

// ------------------------------------------------------------------------------------------------ positions

// How many of these, which rise, are not above x. Without branches where they are few: which one it is, is as good as
// drawn, and each wrong guess of the processor costs more than looking at all of them.
template <class Number> std::size_t count_up_to(std::span<const Number> rising, Number x) {
  constexpr std::size_t kFew = 16;
  if (rising.size() > kFew) return static_cast<std::size_t>(std::ranges::upper_bound(rising, x) - rising.begin());
  std::size_t count = 0;
  for (const Number each : rising) count += each <= x ? 1 : 0;
  return count;
}

// Of lists behind each other, which one has this position. `starts`: where each begins, and where the last one ends.
std::size_t last_start_up_to(std::int64_t position, std::span<const std::int64_t> starts);

// Elements of several sources: those of each stand behind those of the one before.
class JoinedSource final : public IndexedSource {
 public:
  // Null where there are too many elements for numbers of theirs.
  static std::shared_ptr<const JoinedSource> of(std::span<const graph::Positions> inputs);

  std::int64_t size() const override { return starts_.back(); }
  Element at(std::int64_t position) const override;
  std::string origin(std::int64_t position) const override;
  std::size_t input_of(std::int64_t position) const { return last_start_up_to(position, starts_); }
  std::int64_t start_of(std::size_t input) const { return starts_[input]; }

 private:
  std::vector<std::shared_ptr<const IndexedSource>> sources_;
  std::vector<std::int64_t> starts_{0};  // one more than sources
};

// Orders of the inputs of a JoinedSource.
class JoinedOrders {
 public:
  JoinedOrders(std::shared_ptr<const JoinedSource> source, std::span<const graph::Positions> inputs);

  std::size_t size() const noexcept { return orders_.size(); }
  IndexSequence& order(std::size_t input) { return *orders_[input]; }
  const IndexSequence& order(std::size_t input) const { return *orders_[input]; }
  const JoinedSource& source() const noexcept { return *source_; }
  void begin_pass(std::uint32_t epoch, std::uint32_t pass);
  // The next position of this input, or its i-th, as one of the JoinedSource.
  std::optional<std::int64_t> next(std::size_t input) { return joined(input, order(input).next()); }
  std::size_t next_few(std::size_t input, std::span<std::int64_t> positions);
  std::optional<std::int64_t> at(std::size_t input, std::int64_t i) const { return joined(input, order(input).at(i)); }

 private:
  std::optional<std::int64_t> joined(std::size_t input, std::optional<std::int64_t> position) const;

  std::shared_ptr<const JoinedSource> source_;
  std::vector<std::unique_ptr<IndexSequence>> orders_;
};

// Each time the next position of the input that `Chooser` names: drawn(), nullopt at the end. It is told that the input
// gave one (go_on()) or has no more (ended(input)). `size`: how many there will be. Chooser::kMayThrow: in go_on(),
// when the position has been taken already.
template <class Chooser> class MixedSequence final : public IndexSequence {
 public:
  MixedSequence(Chooser chooser, JoinedOrders inputs, std::int64_t size)
      : chooser_(std::move(chooser)), inputs_(std::move(inputs)), size_(size) {}

  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    inputs_.begin_pass(epoch, pass);
    chooser_.begin_pass(epoch, pass);
    few_.assign(inputs_.size(), Few());
  }
  std::size_t next_few(std::span<std::int64_t> positions) override {
    const std::size_t most = Chooser::kMayThrow ? 1 : positions.size();
    std::size_t given = 0;
    for (auto position = next(); position; position = next()) {
      positions[given++] = *position;
      if (given == most) break;
    }
    return given;
  }
  std::optional<std::int64_t> next() override {
    while (const auto input = chooser_.drawn()) {
      if (const auto position = next_of(*input)) {
        chooser_.go_on();
        return position;
      }
      chooser_.ended(*input);
    }
    return std::nullopt;
  }
  std::int64_t size() const override { return size_; }

 private:
  struct Few {  // positions of an input that are known already
    std::array<std::int64_t, 16> positions{};
    std::size_t size = 0, given = 0;
  };

  std::optional<std::int64_t> next_of(std::size_t input) {
    Few& few = few_[input];
    if (few.given == few.size) {
      few.size = inputs_.next_few(input, few.positions);
      few.given = 0;
    }
    return few.size > 0 ? std::optional(few.positions[few.given++]) : std::nullopt;
  }

  Chooser chooser_;
  JoinedOrders inputs_;
  std::int64_t size_;
  std::vector<Few> few_;  // by input
};

inline bool all_are_fixed(std::span<const graph::Positions> inputs) {
  return std::ranges::all_of(inputs, &graph::Positions::is_fixed);
}

// Rows of the inputs, all of which are fixed and at most kMostParts, made one by `make`, which any thread may call. As
// many as the shortest input has.
inline constexpr std::size_t kMostParts = 8;
using MakeRow = std::function<Element(std::int64_t row, std::span<Element> parts)>;
graph::Positions rows_of(std::span<const graph::Positions> inputs, MakeRow make);

}  // namespace penstock::ops
