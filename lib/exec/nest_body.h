// NestBody: makes each element a dataset, and reads that, some slots a call (Lanes).
#pragma once

#include <cstdint>
#include <memory>

#include "lib/exec/body.h"
#include "lib/exec/elementwise_passes.h"

namespace penstock::exec {

class NestBody final : public Body {
 public:
  NestBody(std::shared_ptr<const ElementwiseOp> op, BodyHost& host) : op_(std::move(op)), calls_(*op_), host_(host) {}

  // For some 20 us, or up to 2 ms where it finds nothing.
  void run(Group& group, Context& context) override;
  // The element that the dataset was made of.
  std::int64_t failed_input(const Group& group, std::size_t) const override { return group.place.first_ordinal; }

 private:
  void go_on(Group& group, Context& context);
  void open(Group& group, Context& context);
  void read(Group& group, Context& context) const;
  void fail(Group& group, Slots& failure, const Context& context) const;
  void leave_out_given(Inner& inner, Slots& made, const Context& context) const;
  void end(Inner& inner, const Context& context) const;

  const std::shared_ptr<const ElementwiseOp> op_;
  ElementwisePasses calls_;
  std::int64_t pass_ = 0;  // that calls_ is in, if the op has a state: then one call runs at a time
  BodyHost& host_;
};

}  // namespace penstock::exec
