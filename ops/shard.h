// shard(n, i): the elements whose position modulo n is i. Documented at Dataset::shard.
// An error counts as a position, so that one failed element on one rank does not shift what the
// other ranks take.
#pragma once

#include <penstock/op.h>

#include "lib/graph/traits.h"

namespace penstock::ops {

class ShardOp final : public StreamOp, public graph::SplitsByPosition, public graph::SelectsTheSame {
 public:
  // Error(invalid_argument) unless num_shards >= 1 and 0 <= index < num_shards.
  ShardOp(std::int64_t num_shards, std::int64_t index, bool is_among_ranks = false);
  std::string name() const override { return "shard"; }
  std::string parameters() const override;
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const override;
  std::int64_t num_shards() const override { return num_shards_; }
  bool is_among_ranks() const override { return is_among_ranks_; }
  bool selects_all() const override { return num_shards_ == 1; }

 private:
  std::int64_t num_shards_;
  std::int64_t index_;
  bool is_among_ranks_;
};

}  // namespace penstock::ops
