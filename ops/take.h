// take(count): the first count elements of each pass, -1 for all. Documented at Dataset::take.
// Errors before the last element pass and do not count; behind it nothing passes, so that the
// result does not depend on how far the engine had read ahead. Over positions a position counts,
// whether or not its element can be made.
#pragma once

#include <penstock/op.h>

#include "lib/graph/traits.h"

namespace penstock::ops {

class TakeOp final : public StreamOp, public graph::SelectsTheSame, public graph::EndsPasses {
 public:
  // Error(invalid_argument) if count < -1.
  explicit TakeOp(std::int64_t count);
  std::string name() const override { return "take"; }
  std::string parameters() const override;
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  bool selects_all() const override { return count_ < 0; }
  // Of as many as there are it ends the pass, too: it asks for no more.
  bool may_end_pass(std::int64_t input) const override { return count_ >= 0 && (input < 0 || count_ <= input); }
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const override;

 private:
  std::int64_t count_;
};

}  // namespace penstock::ops
