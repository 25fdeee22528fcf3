// batch(n): n elements together. Documented at Dataset::batch; what a batch of a type is says ps::Collate (batch.h).
//
// An element that does not fit its neighbours becomes an error in its place and the batch goes on
// without it. With drop_remainder it is told when as many elements have come as a batch has: if the
// input ends before, they are the remainder, and left out whether or not they fit each other. Only if collecting itself
// fails (no memory) is a batch given up: its members' places are taken by one error.
#pragma once

#include <penstock/detail/functions.h>
#include <penstock/op.h>
#include <penstock/options.h>

#include "lib/graph/traits.h"

namespace penstock::ops {

class BatchOp final : public StreamOp, public graph::PutsTogether {
 public:
  // Error(invalid_argument) if batch_size < 1.
  BatchOp(std::int64_t batch_size, detail::BatchFactoryRef factory, const BatchOptions& options);
  std::string name() const override { return "batch"; }
  std::string parameters() const override;
  bool is_as_new_after_output() const override { return true; }
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::int64_t elements_held() const override { return batch_size_; }
  std::int64_t batch_size() const override { return batch_size_; }

 private:
  std::int64_t batch_size_;
  detail::BatchFactoryRef factory_;
  bool drop_remainder_;
};

}  // namespace penstock::ops
