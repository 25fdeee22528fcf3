// load: numbers of elements become the elements of a file. Documented at ps::Saved (saved.h).
#pragma once

#include <penstock/op.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "ops/saved_file.h"

namespace penstock::ops {

class LoadOp final : public ElementwiseOp {
 public:
  explicit LoadOp(std::shared_ptr<const LocalSavedFile> file) : file_(std::move(file)) {}
  std::string name() const override { return "load"; }
  std::string parameters() const override;
  Flow flow(const Flow& input) const override { return {.cardinality = input.cardinality}; }
  // From the page cache, and of small elements, it computes: groups of them share a call.
  bool form_is_known() const override { return false; }
  bool may_fan_out() const override { return false; }
  Declares declares() const override { return Declares::one_each; }
  std::optional<std::size_t> bytes_hint(const Element& input) const override;
  void run(std::span<Slot> slots, Context& context) const override;

 private:
  const std::shared_ptr<const LocalSavedFile> file_;
};

}  // namespace penstock::ops
