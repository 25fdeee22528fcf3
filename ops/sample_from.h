// sample_from(inputs): each time one of the inputs, drawn at random. Documented at ps::sample_from.
//
// Draw k of a pass depends on the seed and k alone, or on epoch and pass as well, and on which inputs have ended.
#pragma once

#include <penstock/op.h>
#include <penstock/options.h>

#include <optional>
#include <vector>

#include "lib/graph/positions.h"
#include "lib/graph/traits.h"
#include "ops/seed.h"

namespace penstock::ops {

class SampleFromOp final : public MergeOp,
                           public graph::MergesPositions,
                           public graph::EndsPasses,
                           public graph::ShufflesOrder {
 public:
  // Error(invalid_argument) if there are not as many weights as inputs, or one is negative or no number, or all are 0.
  SampleFromOp(std::size_t inputs, const SampleOptions& options);
  std::string name() const override { return "sample_from"; }
  bool may_end_pass(std::int64_t) const override { return true; }
  std::string parameters() const override { return weights_text() + ", " + seed_.text() + options_text(); }
  std::string parameters_but_seed() const override { return weights_text() + options_text(); }
  bool is_seeded() const override { return seed_.is_given; }
  Flow flow_of(std::span<const Flow> inputs) const override;
  std::unique_ptr<MergeState> open(std::size_t inputs) const override;
  // Not where the first end of an input is the end: how many elements there are is not known before.
  std::optional<graph::Positions> over_positions(std::vector<graph::Positions> inputs) const override;

 private:
  std::string weights_text() const;
  std::string options_text() const;

  std::vector<double> weights_;
  Seed seed_;
  bool stop_on_empty_, rerandomize_;
};

}  // namespace penstock::ops
