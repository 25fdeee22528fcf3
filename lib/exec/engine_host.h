// EngineHost: what the stages of an engine, and the process's permit gate, ask of it.
#pragma once

#include "lib/exec/engine_state.h"
#include "lib/exec/stage_host.h"

namespace penstock::exec {

class EngineHost final : public StageHost, public PermitGate::Waiter {
 public:
  explicit EngineHost(EngineState& state);

  // HostUnderLock
  bool stopped() const noexcept override { return state_.stopped.load(std::memory_order_relaxed); }
  bool acquire_permit(std::size_t stage) override;
  bool permit_is_wanted(std::size_t stage) override;
  bool has_free_permit() const override;

  // StageHost
  const RunFacts& facts() const noexcept override { return facts_; }
  void release_permit() override;
  void give_up_permit() override;
  void end_without_permit() override { state_.launcher->token_ends_without_permit(); }
  void offer_memory() override { state_.offer_memory(); }
  void nothing_is_left_of(std::size_t stage) override;
  void give_up(std::exception_ptr cause) noexcept override;
  void wake_consumer() override { state_.outlet.wake(); }
  SourceItem item(const Stamp& stamp) const override {
    return state_.plan->item(stamp.source, stamp.ordinal,
                             [&](std::size_t stage) { return state_.stages[stage]->body().origin(stamp); });
  }

  // BodyHost
  void cut_pass(std::size_t stage, const PassCut& cut) override;
  void cut_input(std::size_t stage, std::size_t port, const PassCut& cut) override;
  void begin_inputs(std::size_t stage) override;
  void input_has_ended(std::size_t stage, std::size_t port, std::uint64_t sequence) override;
  std::optional<Slot> close_pass(std::size_t stage, const PassCut& cut) override;
  std::int64_t now() const override { return facts_.machine.now(); }
  bool is_unwanted(std::size_t stage, const PassCut& cut) const override;
  void count_dropped(std::size_t stage, std::int64_t errors) override;

  // PermitGate::Waiter
  void permit_is_free(std::size_t stage) override { state_.stages[stage]->permit_is_free(); }

  // Those whose tokens an error has lost; waits for the last token that has one still. Once nobody has the engine any
  // more: a thread that moves a knob gives some back, too.
  void release_lost_permits();

 private:
  std::size_t cpu_rank(std::size_t stage) const;

  EngineState& state_;
  const RunFacts facts_;
};

}  // namespace penstock::exec
