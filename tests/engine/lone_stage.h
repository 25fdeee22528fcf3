// One stage without an engine: what it asks of its surroundings is noted, and the test answers. No thread, and a clock
// that counts looks.
#pragma once

#include <penstock/penstock.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/compile.h"
#include "lib/exec/stage.h"
#include "tests/support/pumped.h"

namespace penstock::testing {

class NotingLauncher final : public exec::Launcher {
 public:
  bool pool_is_wanted() const noexcept override { return is_pool_wanted; }
  bool is_pool_wanted = false;

  void connect(const std::vector<exec::Stage*>&, const exec::Edges&, exec::Outlet&) override {}
  void launch(exec::Stage&, bool) override {
    if (has_no_memory) throw std::bad_alloc();
    ++launched;
  }
  void send(const exec::Edge&, exec::PacketRef packet) override {
    sent.push_back(packet->slots.size());
    for (Slot& slot : packet->slots) {
      if (slot.kind() == Slot::Kind::error) errors.push_back(error_of(slot));
    }
  }
  void give_credits(const exec::Edge&, std::int64_t count) override { credits += count; }
  void run_body(exec::CallRef body) override { body(); }
  bool one_at_a_time() const override { return false; }
  bool wait_for(std::chrono::nanoseconds) override { return true; }

  std::int64_t launched = 0;      // tokens that were to run; run_token() has taken none of them off
  bool has_no_memory = false;     // for a token's line in a list
  std::int64_t credits = 0;       // given to the stage before
  std::vector<std::size_t> sent;  // slots of each packet
  std::vector<ElementError> errors;

 private:
  static ElementError error_of(Slot& slot) {
    try {
      std::rethrow_exception(slot.take<std::exception_ptr>());
    } catch (const ElementError& error) {
      return error;
    }
  }
};

class NotingHost final : public exec::StageHost {
 public:
  // Of a chain of so many stages.
  explicit NotingHost(std::int64_t memory, std::size_t stages = 2)
      : memory_(memory), edges_(exec::Edges::chain(stages)) {}

  const exec::RunFacts& facts() const noexcept override { return facts_; }
  exec::MemoryBudget& memory() { return memory_; }
  // One that is tested; those before and behind it, if there are any, seem to be of the same kind.
  void introduce(const exec::StageTraits& traits, const exec::StageSigns& signs) {
    neighbours_.introduce(traits.index, traits, signs);
    if (traits.index > 0) neighbours_.introduce(traits.index - 1, traits, before);
    if (!edges_.is_last(traits.index)) neighbours_.introduce(traits.index + 1, traits, behind);
  }
  bool acquire_permit(std::size_t) override { return has_permit; }
  bool permit_is_wanted(std::size_t) override { return is_permit_wanted; }
  void release_permit() override { ++permits_released; }
  bool stopped() const noexcept override { return is_stopped; }
  void offer_memory() override {
    ++memory_offered;
    used_when_offered = memory_.used();
  }
  void give_up(std::exception_ptr) noexcept override {
    ++given_up;
    if (before_the_stop) std::exchange(before_the_stop, nullptr)();
    is_stopped = true;
  }
  void wake_consumer() override { ++consumer_woken; }
  bool has_free_permit() const override { return false; }
  exec::SourceItem item(const Stamp&) const override { return {}; }
  void let_pass(std::int64_t ns) { time_ns_ += ns; }
  void give_up_permit() override { ++permits_given_up; }
  void end_without_permit() override { ++ended_without_permit; }
  void cut_pass(std::size_t, const exec::PassCut& cut) override { cuts.push_back(cut); }
  void cut_input(std::size_t, std::size_t port, const exec::PassCut& cut) override {
    input_cuts.emplace_back(port, cut);
  }
  void begin_inputs(std::size_t) override {}
  void input_has_ended(std::size_t, std::size_t, std::uint64_t) override {}
  std::optional<Slot> close_pass(std::size_t, const exec::PassCut& cut) override {
    Slot mark(Element(), Stamp{.sequence = cut.sequence & 0xFFFF'FFFF'FFFF});
    mark.set_kind(Slot::Kind::pass_end);
    mark.set_level(static_cast<std::uint8_t>(cut.depth));
    return mark;
  }
  bool is_unwanted(std::size_t, const exec::PassCut&) const override { return false; }
  void count_dropped(std::size_t, std::int64_t) override {}
  std::int64_t now() const override { return time_ns_; }
  void nothing_is_left_of(std::size_t) override {}

  NotingLauncher notes;
  std::vector<exec::PassCut> cuts;
  std::vector<std::pair<std::size_t, exec::PassCut>> input_cuts;  // by port
  std::function<void()> before_the_stop;                          // by another thread, while a stage gives up
  int consumer_woken = 0, memory_offered = 0, given_up = 0;
  bool has_permit = true, is_permit_wanted = false, is_stopped = false;
  int permits_released = 0, permits_given_up = 0, ended_without_permit = 0;
  std::int64_t used_when_offered = -1;
  std::atomic<std::int64_t> at_outlet{1};  // slots that lie there
  exec::StageSigns before, behind;         // of the stages around the one that is tested

 private:
  exec::MemoryBudget memory_;
  mutable std::int64_t time_ns_ = 0;
  const ClockedMachine machine_{[this] { return time_ns_ += 100; }};
  const exec::Edges edges_;
  exec::Neighbours neighbours_{edges_, at_outlet};
  const exec::RunFacts facts_{.launcher = notes, .memory = memory_, .neighbours = neighbours_, .machine = machine_};
};

inline constexpr std::int64_t kLimit = 1 << 20;  // bytes: what most of them may hold

inline std::string kilobyte(std::int64_t value) { return std::string(1000, static_cast<char>(value)); }

// Stage `index` of the dataset's plan: the last one, or with so many behind it.
class LoneStage {
 public:
  LoneStage(const graph::NodeRef& node, std::size_t index, std::int64_t memory, std::size_t behind = 0)
      : host(memory, index + 1 + behind),
        plan_(exec::compile(node)),
        passes_(plan_->repeats(), 0, 1),
        stage(plan_->stages[index], index, plan_->repeats().size(), host, passes_) {
    host.introduce(stage.traits(), stage.signs());
    stage.open();
    stage.wake();
  }

  // The values that follow, as a packet each, of so many bytes by the books.
  void feed(std::int64_t count, std::int64_t bytes = 0) {
    for (; count > 0; --count) {
      exec::Slots slots;
      slots.emplace_back(Element(next_++), Stamp());
      slots.back().set_bytes(bytes);
      host.memory().charge(bytes);
      stage.receive(0, std::move(slots));
    }
  }
  // The next value as the first of a pass behind one that was empty here: that one's mark, then the value.
  void feed_behind_the_mark_of(std::uint32_t sequence) {
    exec::Slots slots;
    slots.push_back(*host.close_pass(0, {0, sequence}));
    slots.emplace_back(Element(next_++), Stamp{.sequence = sequence + 1});
    stage.receive(0, std::move(slots));
  }
  // The values that follow, in one packet: what one call may get.
  void feed_together(std::int64_t count, std::int64_t bytes = 0) {
    exec::Slots slots;
    host.memory().charge(count * bytes);
    for (; count > 0; --count) {
      slots.emplace_back(Element(next_++), Stamp());
      slots.back().set_bytes(bytes);
    }
    stage.receive(0, std::move(slots));
  }
  // As its launcher would: one token after the other, until it asks for no more.
  void run_tokens() {
    for (; tokens_run_ < host.notes.launched; ++tokens_run_) stage.run_token(stage_is_on_pool());
  }
  StageSnapshot snapshot() const {
    StageSnapshot snapshot;
    stage.snapshot(snapshot);
    return snapshot;
  }

  NotingHost host;

 private:
  bool stage_is_on_pool() const { return snapshot().on_pool; }

  const std::shared_ptr<const exec::Plan> plan_;
  exec::PassControl passes_;
  std::int64_t next_ = 0;
  std::int64_t tokens_run_ = 0;

 public:
  exec::Stage stage;
};

}  // namespace penstock::testing
