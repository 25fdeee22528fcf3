// rebatch(sizes): batches cut anew, without going through single elements. Documented at Dataset::rebatch. Errors pass
// at once: which rows a failed batch would have had nobody knows.
#pragma once

#include <penstock/detail/rebatch.h>
#include <penstock/op.h>
#include <penstock/options.h>

#include <vector>

namespace penstock::ops {

class RebatchOp final : public StreamOp {
 public:
  // Error(invalid_argument) if there is no size, or one below 1.
  RebatchOp(std::vector<std::int64_t> sizes, detail::RowQueueFactoryRef factory, const BatchOptions& options);
  std::string name() const override { return "rebatch"; }
  std::string parameters() const override;
  Flow flow(const Flow&) const override;
  bool form_is_known() const override { return true; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override;

 private:
  std::vector<std::int64_t> sizes_;
  detail::RowQueueFactoryRef factory_;
  bool drop_remainder_;
};

}  // namespace penstock::ops
