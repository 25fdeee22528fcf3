// assert_cardinality(n): says how many elements a pass has where the graph cannot know it, and holds the pass to it.
// Documented at Dataset::assert_cardinality. An error counts as a position, as in shard.
#pragma once

#include <penstock/op.h>

#include <string>

namespace penstock::ops {

class AssertCardinalityOp final : public StreamOp {
 public:
  // Error(invalid_argument) unless it is at least 0 or INFINITE_CARDINALITY.
  explicit AssertCardinalityOp(std::int64_t cardinality);
  std::string name() const override { return "assert_cardinality"; }
  std::string parameters() const override { return "cardinality=" + std::to_string(cardinality_); }
  // Error(invalid_argument) if the input is known to have another number.
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;

 private:
  const std::int64_t cardinality_;
};

}  // namespace penstock::ops
