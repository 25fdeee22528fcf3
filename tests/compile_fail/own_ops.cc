// Ops that compile, and that do not without one of the things that every op must state.
//
// FORGETS name: name
// FORGETS flow: flow
// FORGETS open: open
// FORGETS source_open: open
// FORGETS state: element
// FORGETS function: the function cannot be called with an element
#include <penstock/penstock.h>

#include <cstdint>
#include <memory>
#include <string>

namespace ps = penstock;

class Identity final : public ps::ElementwiseOp {
 public:
#ifndef FORGETS_name
  std::string name() const override { return "identity"; }
#endif
#ifndef FORGETS_flow
  ps::Flow flow(const ps::Flow& input) const override { return input; }
#endif
  void run(std::span<ps::Slot>, ps::Context&) const override {}
};

class Pass final : public ps::StreamOp {
 public:
  std::string name() const override { return "pass"; }
  ps::Flow flow(const ps::Flow& input) const override { return input; }
#ifndef FORGETS_open
  std::unique_ptr<ps::StreamState> open(std::uint64_t) const override { return std::make_unique<State>(); }
#endif

 private:
  class State final : public ps::StreamState {
#ifndef FORGETS_state
    void element(ps::Slot&& slot, ps::Emitter& out) override { out.emit(std::move(slot.value), slot.stamp); }
#endif
  };
  std::unique_ptr<State> unused() const { return std::make_unique<State>(); }
};

class Nothing final : public ps::SourceOp {
 public:
  std::string name() const override { return "nothing"; }
  ps::Flow flow(const ps::Flow&) const override { return {.cardinality = 0}; }
#ifndef FORGETS_source_open
  std::unique_ptr<ps::SourceReader> open() const override { return nullptr; }
#endif
};

ps::Dataset<std::int64_t> pipeline() {
  const auto source = ps::graph::append(nullptr, std::make_shared<Nothing>(), ps::CallSite::here());
  const auto own = ps::Dataset<std::int64_t>(source).then(std::make_shared<Identity>()).then(std::make_shared<Pass>());
#ifndef FORGETS_function
  return own.map([](std::int64_t x) { return x; });
#else
  return own.map([](const std::string& x) { return x; });
#endif
}
