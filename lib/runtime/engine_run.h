// EngineRun: a run as its user has it: an engine with epochs, error policy and checkpoints. The engine begins with the
// first request.
//
// Thread safety: next(), begin_epoch() and checkpoint() by one thread at a time; all else by any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/graph.h>
#include <penstock/run.h>

#include "lib/base/mutex.h"
#include "lib/exec/engine.h"
#include "lib/runtime/observer.h"
#include "lib/runtime/replay.h"
#include "lib/runtime/runtime.h"
#include "lib/runtime/start_run.h"
#include "lib/runtime/trace_file.h"
#include "lib/runtime/tuning_file.h"

namespace penstock::detail {

class EngineRun final : public RunCore, public std::enable_shared_from_this<EngineRun> {
 public:
  // `loop`: the graph, if for_one_loop() gave it.
  EngineRun(std::shared_ptr<const exec::Plan> plan, const RunOptions& options, runtime::PolicyMaker make_policy,
            graph::NodeRef loop = nullptr, const exec::SaveSpacing& save_spacing = {});
  ~EngineRun() override;

  std::shared_ptr<RunCore> begin_epoch(std::uint32_t epoch) override;
  Status next(Element& out, const std::chrono::steady_clock::time_point* deadline) override;
  Checkpoint checkpoint() const override;
  std::vector<Knob> knobs() override;
  Snapshot snapshot() const override;
  RunStats stats() const override;
  Explanation explain() const EXCLUDES(mutex_) override;
  std::vector<Decision> decisions() const EXCLUDES(mutex_) override;

 private:
  // Who has been told that the run is cut: whether a call that nobody wants, and in which pass.
  struct Told {
    bool is_unwanted;
    std::uint64_t sequence;
    bool operator==(const Told&) const = default;
  };
  // What the consumer has had of the current epoch.
  struct Progress {
    bool ended = false;
    bool begun = false;  // by this run: something of it was handed over since begin_epoch() or resume()
    std::int64_t delivered = 0;
    std::int64_t errors_since = 0;
    std::optional<Stamp> last{};
    exec::SavePoint::Input behind{};  // the last save point that it has passed; none: the epoch's beginning
    bool is_cut_short = false;        // nothing more is to be had, for a call around has cut it
    std::optional<Told> told{};       // the last one
  };

  std::shared_ptr<EngineRun> held(const char* request);
  exec::Engine& engine() EXCLUDES(mutex_);
  std::shared_ptr<exec::Engine> engine_or_null() const EXCLUDES(mutex_);
  std::shared_ptr<exec::Engine> start_engine(std::uint32_t first) REQUIRES(mutex_);
  exec::EngineSettings settings_for(std::uint32_t first) const;
  std::shared_ptr<exec::Engine> start_on_threads(exec::EngineSettings settings) REQUIRES(mutex_);
  std::shared_ptr<exec::Engine> start_serial(exec::EngineSettings settings, bool inside_another_run) REQUIRES(mutex_);
  void watch_from_outside(const std::shared_ptr<exec::Engine>& engine) REQUIRES(mutex_);
  std::shared_ptr<exec::Engine> observed(std::shared_ptr<exec::Engine> engine, runtime::Execution execution)
      REQUIRES(mutex_);
  runtime::Runtime::Disposals disposal_of(const std::shared_ptr<exec::Engine>& engine) const REQUIRES(mutex_);
  // Parts of the destructor: nobody else has the run any more.
  void drop_engine() NO_THREAD_SAFETY_ANALYSIS;
  void end_loop() const noexcept;
  void leave_engine_to_parent() NO_THREAD_SAFETY_ANALYSIS;
  bool belongs_to_another_process() const noexcept;
  void check_process() const;
  void go_to(std::uint32_t epoch) EXCLUDES(mutex_);
  void move_to(std::uint32_t epoch);
  void send_engine_to(std::uint32_t epoch) EXCLUDES(mutex_);
  void begin_anew(std::uint32_t epoch) EXCLUDES(mutex_);
  void refuse_if_unwanted();
  bool has_given_nothing_of(std::uint32_t epoch) const noexcept;  // where the run stands
  void end_epoch() EXCLUDES(mutex_);
  void stand_at(const Checkpoint& from);
  std::uint32_t epochs_from(std::uint32_t epoch) const;

  bool hand_over(Slot& slot, Element& out);
  exec::Engine::Taken take_slot(Slot& slot, std::int64_t moment);
  bool tell_reader();
  void check_whole();
  void note_if_cut();
  void deliver(Slot& slot, Element& out);
  void check_resumed();
  bool may_skip() const;

  const std::shared_ptr<const exec::Plan> plan_;
  const graph::NodeRef loop_;  // null: it is none whose end anybody waits for
  RunOptions options_;
  const runtime::PolicyMaker make_policy_;
  const exec::SaveSpacing save_spacing_;
  std::atomic<std::uint32_t> process_{0};  // the number of the one that the engine was started in; 0: none yet
  mutable Mutex mutex_;
  std::shared_ptr<exec::Engine> engine_ GUARDED_BY(mutex_);  // which the first request of any thread makes
  runtime::Runtime::Disposals disposal_ GUARDED_BY(mutex_);  // takes engine_ down; none where there is none
  std::atomic<exec::Engine*> begun_{nullptr};         // engine_, for the consumer, who asks for it with each element
  mutable std::atomic<bool> turn_{false};             // a request of the consumer's is under way
  bool is_watched_ GUARDED_BY(mutex_) = false;        // nested_, by the runtime
  std::shared_ptr<exec::NestedRun> nested_;           // none: it was not made in a call of another run
  std::shared_ptr<runtime::TraceFile> trace_file_;    // none: no trace is wanted
  std::shared_ptr<runtime::TuningFile> tuning_file_;  // none: nothing is to be kept, or nothing is tuned
  std::shared_ptr<runtime::Observer> observer_ GUARDED_BY(mutex_);  // of the engine, made with it
  // all of the run, when the consumer came to the end of what there is
  std::optional<autotune::Window> at_end_ GUARDED_BY(mutex_);

  // The consumer's thread only. Until there is an engine it changes them with the lock held: another thread may be
  // starting one.
  std::uint32_t epoch_;
  Progress progress_;
  runtime::Replay replay_;
  std::optional<std::uint32_t> reads_;  // the epoch that the engine gives next; none: it waits behind its last one
  // Written by the consumer, read by any thread.
  std::atomic<std::int64_t> delivered_{0};
  std::atomic<std::int64_t> errors_{0};
  std::atomic<std::int64_t> skipped_{0};
};

}  // namespace penstock::detail
