// bucket_by_sequence_length(length): elements of about one length in a padded batch. Documented at
// Dataset::bucket_by_sequence_length. Errors pass at once. At the end of a pass what is left of each bucket leaves, the
// shortest first.
#pragma once

#include <penstock/detail/buckets.h>
#include <penstock/op.h>
#include <penstock/padded_batch.h>

#include <string>
#include <vector>

namespace penstock::ops {

class BucketBySequenceLengthOp final : public StreamOp {
 public:
  // Error(invalid_argument) unless the boundaries rise, from 1 or more where batches are padded to them, each has a
  // batch size and one is left for what is longer, and all of these are 1 or more.
  BucketBySequenceLengthOp(detail::ElementLengthFactoryRef length, std::vector<detail::BatchFactoryRef> factories,
                           detail::Buckets buckets, const Padding& padding);
  std::string name() const override { return "bucket_by_sequence_length"; }
  std::string parameters() const override;
  // Only of an endless input it is known how many batches come.
  Flow flow(const Flow& input) const override;
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::int64_t elements_held() const override;  // of one bucket

 private:
  const detail::ElementLengthFactoryRef length_;
  const std::vector<detail::BatchFactoryRef> factories_;  // by bucket
  const detail::Buckets buckets_;
  const std::string padding_;  // as text
};

}  // namespace penstock::ops
