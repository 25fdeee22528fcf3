// What the tests of several ops share: index sequences against a plain list, and tables of cardinalities.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/op.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/positions.h"

namespace penstock::testing {

using Positions = std::vector<std::int64_t>;

inline Positions first_positions(std::int64_t n) {
  Positions all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

inline const StreamOp& as_stream(const OpRef& op) { return dynamic_cast<const StreamOp&>(*op); }

// The ops one after the other over the positions 0 .. n-1.
inline std::unique_ptr<IndexSequence> over_positions(const std::vector<OpRef>& chain, std::int64_t n) {
  auto sequence = graph::all_positions(n);
  for (const OpRef& op : chain) sequence = as_stream(op).over_index(std::move(sequence));
  return sequence;
}

// What is left of the pass.
inline Positions drain(IndexSequence& sequence) {
  Positions positions;
  while (const auto position = sequence.next()) positions.push_back(*position);
  return positions;
}

inline Positions order_of(const OpRef& op, std::int64_t n, std::uint32_t epoch = 0, std::uint32_t pass = 0) {
  const auto sequence = over_positions({op}, n);
  sequence->begin_pass(epoch, pass);
  return drain(*sequence);
}

inline Positions behind(const Positions& all, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size())), all.end()};
}

// By next_few() and next() in turn.
inline Positions drain_by(IndexSequence& sequence, std::size_t most) {
  Positions positions, few(most);
  for (std::size_t count = 1; count > 0;) {
    count = sequence.next_few(few);
    positions.insert(positions.end(), few.begin(), few.begin() + static_cast<std::ptrdiff_t>(count));
    if (const auto next = sequence.next()) positions.push_back(*next);
  }
  EXPECT_EQ(sequence.next_few(few), 0u) << "the end is not the end";
  return positions;
}

// Everything an IndexSequence promises, in one pass that should give `expected`.
inline void expect_pass(IndexSequence& sequence, std::uint32_t epoch, std::uint32_t pass, const Positions& expected) {
  EXPECT_EQ(sequence.size(), static_cast<std::int64_t>(expected.size()));
  sequence.begin_pass(epoch, pass);
  EXPECT_EQ(drain(sequence), expected);
  EXPECT_EQ(sequence.next(), std::nullopt) << "the end is not the end";
  for (const std::size_t most : {1U, 3U, 64U}) {
    sequence.begin_pass(epoch, pass);
    EXPECT_EQ(drain_by(sequence, most), expected) << "by next_few(), " << most << " at most";
  }
  for (std::size_t count = 0; count <= expected.size() + 2; ++count) {
    sequence.begin_pass(epoch, pass);
    sequence.skip(static_cast<std::int64_t>(count));
    EXPECT_EQ(drain(sequence), behind(expected, count)) << "after skip(" << count << ")";
    sequence.begin_pass(epoch, pass);
    const auto first = sequence.next();
    sequence.skip(static_cast<std::int64_t>(count));
    if (first) {
      EXPECT_EQ(drain(sequence), behind(expected, count + 1)) << "after next(), skip(" << count << ")";
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto position = sequence.at(static_cast<std::int64_t>(i));
    EXPECT_EQ(position.value_or(expected[i]), expected[i]) << "at(" << i << ")";
  }
  for (std::int64_t position = -1; position <= 100; ++position) {
    const auto place = std::find(expected.begin(), expected.end(), position) - expected.begin();
    EXPECT_EQ(sequence.find(position).value_or(place), place) << "find(" << position << ")";
  }
}

struct Count {
  std::int64_t input;
  std::int64_t output;
};

// Cardinalities of an op's output, given its input's.
inline void expect_cardinalities(const OpRef& op, const std::vector<Count>& table) {
  for (const Count& row : table)
    EXPECT_EQ(op->flow({.cardinality = row.input}).cardinality, row.output)
        << op->name() << "(" << op->parameters() << ") of an input with cardinality " << row.input;
}

inline std::int64_t leading_dimension(const OpRef& op, const Flow& input) { return op->flow(input).leading_dimension; }

// The op changes nothing about the rows of its elements.
inline void expect_keeps_leading_dimension(const OpRef& op) {
  EXPECT_EQ(leading_dimension(op, {.cardinality = 10, .leading_dimension = 7}), 7);
  EXPECT_EQ(leading_dimension(op, {.cardinality = 10}), UNKNOWN_CARDINALITY);
}

inline constexpr std::int64_t INF = INFINITE_CARDINALITY;
inline constexpr std::int64_t UNK = UNKNOWN_CARDINALITY;

}  // namespace penstock::testing
