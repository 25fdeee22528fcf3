// Engine: one execution of a plan. Its parts: EngineState (what they share), EngineHost (what stages ask), Delivery
// (the consumer's side), Relief (when it is starved), EngineReport (what is seen of it), and the knobs.
#pragma once

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <vector>

#include <penstock/knob.h>
#include <penstock/snapshot.h>

#include "lib/exec/body_scope.h"
#include "lib/exec/delivery.h"
#include "lib/exec/engine_host.h"
#include "lib/exec/engine_report.h"
#include "lib/exec/engine_settings.h"
#include "lib/exec/engine_state.h"
#include "lib/exec/relief.h"

namespace penstock::exec {

// Comes down when what holds it is destroyed.
class Farewell {
 public:
  Farewell() = default;
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell() { latch_->count_down(); }
  std::shared_ptr<const std::latch> latch() const noexcept { return latch_; }

 private:
  const std::shared_ptr<std::latch> latch_ = std::make_shared<std::latch>(1);
};

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  static std::shared_ptr<Engine> make(std::shared_ptr<const Plan> plan, const EngineSettings& settings,
                                      std::unique_ptr<Launcher> launcher);
  ~Engine() { state_.launcher.reset(); }

  // Stops and waits for the calls in flight. Afterwards nothing of the run is left but counters. May be called again,
  // and does nothing then: the last to hold the engine may be on a thread that has no memory.
  void shut_down();
  void request_stop();  // without waiting
  bool stopped() const noexcept { return host_.stopped(); }
  void give_up(std::exception_ptr cause) noexcept {
    host_.give_up(std::move(cause));
  }  // any thread, without waiting: the consumer gets this

  enum class Taken : std::uint8_t { slot, timeout };
  // The next slot of any kind. Throws Error(failed_precondition) inside a body of this engine.
  Taken next(Slot& slot, std::int64_t deadline = kNever);       // a moment of the machine
  void begin_epoch(std::uint32_t epoch, std::uint32_t epochs);  // after the last one has ended
  // Gives up what is left of the current epoch and of those that were read ahead. Returns when all of it is gone.
  void abandon_epoch();
  // Whether the pass to go on in has ended without the place to go on at. True before its mark reaches the consumer.
  bool has_missed_resumption() const noexcept;

  // Now and then, by who looks after runs: calls under way (at their threads, too, if `samples`), and the consumer.
  void look_after(bool samples);
  Relief& relief() noexcept { return relief_; }
  EngineReport& report() noexcept { return report_; }
  std::vector<Knob> knobs();
  Snapshot snapshot() const;

  bool inside_own_body() const noexcept { return BodyScope::inside(&host_); }
  void refuse_own_body(const char* caller) const;  // throws inside one of the run's own calls
  EngineState& state() noexcept { return state_; }
  const Plan& plan() const noexcept { return *state_.plan; }
  const EngineSettings& settings() const noexcept { return state_.settings; }
  // Down when nothing of the engine is left. Others, such as the controller, may hold it a moment longer than the one
  // who let it go.
  std::shared_ptr<const std::latch> departure() const noexcept { return farewell_.latch(); }

 private:
  Engine(std::shared_ptr<const Plan> plan, const EngineSettings& settings, std::unique_ptr<Launcher> launcher);

  void open();
  void resume_by_position(const Stamp& last);
  void let_go_of_results();

  const Farewell farewell_;  // the first member: destroyed after all others
  EngineState state_;
  EngineHost host_{state_};
  Delivery delivery_{state_};
  Relief relief_{state_};
  EngineReport report_{state_};
  std::atomic<bool> is_down_{false};
};

}  // namespace penstock::exec
