// What the maps of the ImageNet pipelines have in common: one result for each file, whose size is told beforehand.
#pragma once

#include <penstock/op.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <utility>

namespace penstock::imagenet {

template <class Input> class FileOp : public ElementwiseOp {
 public:
  Flow flow(const Flow& input) const override { return {.cardinality = input.cardinality}; }
  bool may_fan_out() const override { return false; }

  void run(std::span<Slot> slots, Context& context) const override {
    for (std::size_t i = 0; i < slots.size() && context.go_on(i); ++i) {
      Slot& slot = slots[i];
      context.enter(slot);
      try {
        slot.emit(answer(std::as_const(slot.value).template unchecked<Input>(), context));
      } catch (...) {
        slot.fail(std::current_exception());
      }
    }
  }

  std::optional<std::size_t> bytes_hint(const Element& input) const override {
    return bytes_of_result(input.unchecked<Input>());
  }

  // May throw: the call itself will then fail the same way and report it.
  virtual std::size_t bytes_of_result(const Input& input) const = 0;

 private:
  virtual Element answer(const Input& input, Context& context) const = 0;
};

}  // namespace penstock::imagenet
