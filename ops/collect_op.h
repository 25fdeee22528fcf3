// What batch, padded_batch and ragged_batch share: n elements are put together, each kind by a builder of its own.
//
// An element that does not fit its neighbours becomes an error in its place and the batch goes on
// without it. With drop_remainder it is told when as many elements have come as a batch has: if the
// input ends before, they are the remainder, and left out whether or not they fit each other. Only if collecting itself
// fails (no memory) is a batch given up: its members' places are taken by one error.
#pragma once

#include <penstock/detail/functions.h>
#include <penstock/error.h>
#include <penstock/op.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace penstock::ops {

class CollectOp : public StreamOp {
 public:
  // Error(invalid_argument) if batch_size < 1.
  CollectOp(std::int64_t batch_size, detail::BatchFactoryRef factory, bool drop_remainder);
  std::string parameters() const override;
  bool is_as_new_after_output() const override { return true; }
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::int64_t elements_held() const override { return batch_size_; }

 protected:
  const std::int64_t batch_size_;

 private:
  const detail::BatchFactoryRef factory_;
  const bool drop_remainder_;
};

// What is told in the place of a batch that could not be put together.
Error lost_batch(std::int64_t elements, const std::exception_ptr& cause);

}  // namespace penstock::ops
