// ElementwisePasses: calls an element-wise op, pass by pass. One that has a state has a new one in each, made with its
// first element; if that fails to open, all elements of the pass fail, and not just those of one call.
//
// Thread safety: of an op without a state, any thread; else one at a time.
#pragma once

#include <exception>
#include <memory>
#include <span>

#include <penstock/op.h>

namespace penstock::exec {

class ElementwisePasses {
 public:
  explicit ElementwisePasses(const ElementwiseOp& op) : op_(op) {}  // which lives longer

  void run(std::span<Slot> slots, Context& context);
  void end_pass() noexcept;
  bool has_begun() const noexcept { return state_ != nullptr || failed_to_open_ != nullptr; }  // a pass, with its state

 private:
  void open();

  const ElementwiseOp& op_;
  std::unique_ptr<ElementwiseState> state_;  // of the pass being read,
  std::exception_ptr failed_to_open_;        // or why it could not be made
};

}  // namespace penstock::exec
