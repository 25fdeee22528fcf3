// skip(count): all but the first count elements of each pass; -1 leaves none. Documented at
// Dataset::skip. Errors pass and do not count. Over positions a position counts, whether or not its
// element can be made.
#pragma once

#include <penstock/op.h>

#include "lib/graph/traits.h"

namespace penstock::ops {

class SkipOp final : public StreamOp, public graph::SelectsTheSame {
 public:
  // Error(invalid_argument) if count < -1.
  explicit SkipOp(std::int64_t count);
  std::string name() const override { return "skip"; }
  std::string parameters() const override;
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  bool selects_all() const override { return count_ == 0; }
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const override;

 private:
  std::int64_t count_;
};

}  // namespace penstock::ops
