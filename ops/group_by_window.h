// group_by_window(key, size): elements that have a key in common, together. Documented at Dataset::group_by_window.
// Errors pass at once. At the end of a pass what is left of each group leaves, in the order of the keys.
#pragma once

#include <penstock/detail/gather.h>
#include <penstock/op.h>

namespace penstock::ops {

class GroupByWindowOp final : public StreamOp {
 public:
  // Error(invalid_argument) if size < 1.
  GroupByWindowOp(std::int64_t size, detail::GroupingFactoryRef factory);
  std::string name() const override { return "group_by_window"; }
  std::string parameters() const override;
  // Only of an endless input it is known how many groups come.
  Flow flow(const Flow& input) const override;
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::int64_t elements_held() const override { return size_; }  // of one key

 private:
  std::int64_t size_;
  detail::GroupingFactoryRef factory_;
};

}  // namespace penstock::ops
