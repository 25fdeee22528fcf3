// shuffle in TensorFlow's order, bit for bit. Documented at ShuffleOrder (options.h).
//
// The algorithm is that of tf.data's ShuffleDataset (tensorflow/core/kernels/data/shuffle_dataset_op.cc, 2.21): a
// buffer is filled; one of the elements in it leaves, the one that is there longest takes its place, and the next one
// of the input comes behind all others. Draws are words of Philox4x32-10, keyed by a pair of seeds. Each opening, for
// one pass, has a pair of its own: the next two words of a generator that the seeds of the op key; or these themselves,
// where each pass has the same order.
#pragma once

#include <penstock/op.h>
#include <penstock/options.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "lib/graph/repeats.h"
#include "lib/graph/traits.h"
#include "ops/shuffle_buffer.h"

namespace penstock::ops {

class TensorFlowShuffleOp final : public BufferedShuffleOp, public graph::CountsOpenings {
 public:
  // Error(invalid_argument) as BufferedShuffleOp's, and for a global seed without another one.
  TensorFlowShuffleOp(std::int64_t buffer_size, const ShuffleOptions& options);
  std::string name() const override { return "shuffle"; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const override;
  std::int64_t bytes_of_place() const override { return sizeof(Slot) + sizeof(std::int64_t); }

  OpRef among(const graph::RepeatsAround& repeats) const override;
  const graph::RepeatsAround& repeats() const override { return seeds_.repeats; }
  OpRef in_a_loop() const override;
  void loop_is_over(std::uint64_t openings) const override { opened_->fetch_add(openings - 1); }

  // Which generator a pass has.
  struct Seeds {
    std::uint64_t seed, seed2;
    bool reshuffle;
    graph::RepeatsAround repeats{};
    // The openings before this loop; none: it is a run's epoch.
    std::optional<std::uint64_t> loop_begins = std::nullopt;

    CounterRng rng(std::uint32_t epoch, std::uint32_t pass) const;
  };

 private:
  Seeds seeds_;
  // By all loops over this op, of whatever dataset.
  std::shared_ptr<std::atomic<std::uint64_t>> opened_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace penstock::ops
