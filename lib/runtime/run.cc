// Run: an engine with epochs, error policy and checkpoints.
#include <penstock/run.h>

#include <utility>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "lib/exec/resume_body.h"
#include "lib/runtime/runtime.h"

namespace penstock::detail {
namespace {

using exec::Engine;

class EngineRun final : public RunCore {
 public:
  EngineRun(std::shared_ptr<const exec::Plan> plan, const RunOptions& options)
      : plan_(std::move(plan)), options_(options), epoch_(options.first_epoch), epochs_left_(options.epochs) {
    if (options_.resume_from) resume(*options_.resume_from);
    options_.resume_from = nullptr;
  }

  ~EngineRun() override { drop_engine(); }

  void begin_epoch(std::uint32_t epoch) override;
  Status next(Element& out, const std::chrono::steady_clock::time_point* deadline) override;
  Checkpoint checkpoint() const override;
  std::vector<Knob> knobs() override { return engine().knobs(); }
  Snapshot snapshot() const override { return engine_ ? engine_->snapshot() : Snapshot(); }
  RunStats stats() const override;

 private:
  Engine& engine();
  void start_engine();
  void drop_engine();
  void resume(const Checkpoint& from);
  void copy_knobs(Engine& from, Engine& to);

  bool was_delivered_before(const Slot& slot);
  bool keep(const Slot& slot);
  void end_epoch();
  [[noreturn]] void throw_error(Slot& slot);

  std::shared_ptr<const exec::Plan> plan_;
  RunOptions options_;
  std::shared_ptr<Engine> engine_;

  std::uint32_t epoch_;
  std::uint32_t epochs_left_;        // that the engine was told to read ahead into
  bool epoch_ended_ = false;
  // Of the current epoch: what checkpoint() says.
  std::int64_t delivered_ = 0;
  std::int64_t errors_since_ = 0;
  std::optional<Stamp> last_;
  // What is left out after a resume.
  std::int64_t replay_left_ = 0;     // by count
  std::optional<Stamp> replay_until_;
  std::int64_t errors_left_ = 0;
  std::optional<Stamp> resume_after_;
  RunStats stats_;
};

// Started by the first request, so that a description can be turned into a run at no cost.
Engine& EngineRun::engine() {
  if (!engine_) start_engine();
  return *engine_;
}

void EngineRun::start_engine() {
  // Inside a body of another run the workers may all be waiting for this one: it runs on the caller's thread instead.
  const bool serial = options_.serial || exec::BodyScope::inside_any();
  exec::EngineSettings settings;
  settings.first_epoch = epoch_;
  settings.epochs = epochs_left_;
  settings.seed = options_.seed;
  settings.serial = serial;
  settings.resume_after = resume_after_ ? &*resume_after_ : nullptr;
  runtime::Runtime& runtime = runtime::Runtime::get();
  settings.memory_bytes =
      options_.memory_bytes > 0 ? static_cast<std::int64_t>(options_.memory_bytes) : runtime.default_memory();
  if (!serial) {
    settings.slots = runtime.slots_for(options_.threads);
    settings.gate = &runtime.gate();
    settings.pool = &runtime.pool();
    settings.open_io = options_.open_io;
  }
  engine_ = Engine::make(plan_, settings);
  resume_after_.reset();
  if (options_.tune && !serial) runtime.tune(engine_);
}

// Waits for the calls in flight; on the thread of one of them, somebody else has to do it.
void EngineRun::drop_engine() {
  if (!engine_) return;
  if (engine_->inside_own_body()) {
    engine_->request_stop();
    runtime::Runtime::get().dispose(std::move(engine_));
  } else {
    engine_->shut_down();
  }
  engine_.reset();
}

void EngineRun::resume(const Checkpoint& from) {
  if (from.pipeline != plan_->text) {
    throw Error(ErrorCode::failed_precondition,
                "this checkpoint is of another pipeline.\nIt was taken of:\n" + from.pipeline + "and is given to:\n" + plan_->text);
  }
  epoch_ = from.epoch;
  epoch_ended_ = from.epoch_ended;
  delivered_ = from.delivered;
  errors_since_ = from.errors_since;
  if (from.has_last) last_ = from.last;
  if (epoch_ended_) return;
  if (from.kind == Checkpoint::Kind::replay) {
    replay_left_ = from.delivered;
    return;
  }
  errors_left_ = from.errors_since;
  if (!from.has_last) return;
  resume_after_ = from.last;
  if (plan_->resume_stage == plan_->stages.size()) replay_until_ = from.last;
}

void EngineRun::begin_epoch(std::uint32_t epoch) {
  const bool fresh = !engine_ && delivered_ == 0 && !epoch_ended_ && !last_;
  if (epoch == epoch_ && !epoch_ended_) {
    if (fresh || !engine_ || delivered_ == 0) return;  // not begun, or resumed into: go on there
  }
  const bool follows = epoch_ended_ && epoch == epoch_ + 1;
  if (engine_ && follows && epochs_left_ == 0) {
    engine_->begin_epoch(epoch);
  } else if (engine_ && !(follows && epochs_left_ > 0)) {
    auto old = engine_;  // what is left of the epoch is given up; its tuning is not
    old->request_stop();
    epoch_ = epoch;
    start_engine();
    copy_knobs(*old, *engine_);
    old->shut_down();
  }
  epoch_ = epoch;
  epoch_ended_ = false;
  delivered_ = errors_since_ = 0;
  last_.reset();
}

void EngineRun::copy_knobs(Engine& from, Engine& to) {
  auto source = from.knobs();
  auto target = to.knobs();
  for (std::size_t i = 0; i < source.size(); ++i) target[i].set(source[i].get());
}

RunCore::Status EngineRun::next(Element& out, const std::chrono::steady_clock::time_point* deadline) {
  for (;;) {
    if (epoch_ended_) return Status::end;
    Slot slot;
    if (engine().next(slot, deadline) == Engine::Taken::timeout) return Status::timeout;
    if (slot.kind() == Slot::Kind::pass_end) {
      if (slot.level() == plan_->repeats.size()) end_epoch();
      continue;
    }
    if (was_delivered_before(slot)) continue;
    ++delivered_;
    if (slot.is_element()) {
      last_ = slot.stamp;
      errors_since_ = 0;
      ++stats_.delivered;
      out = std::move(slot.value);
      return Status::element;
    }
    ++errors_since_;
    ++stats_.errors;
    if (!keep(slot)) throw_error(slot);
    ++stats_.skipped;
  }
}

void EngineRun::end_epoch() {
  epoch_ended_ = true;
  if (epochs_left_ > 0) --epochs_left_;
}

// What a checkpoint says the consumer has had.
bool EngineRun::was_delivered_before(const Slot& slot) {
  if (replay_left_ > 0) {
    --replay_left_;
    return true;
  }
  if (replay_until_) {
    if (slot.is_element() && exec::same_element(slot.stamp, *replay_until_)) replay_until_.reset();
    return true;
  }
  if (errors_left_ > 0 && !slot.is_element()) {
    --errors_left_;
    return true;
  }
  errors_left_ = 0;
  return false;
}

// Whether the error policy lets this one pass in silence.
bool EngineRun::keep(const Slot&) {
  const std::int64_t most = options_.on_error.skip_at_most;
  return most < 0 || stats_.skipped < most;
}

void EngineRun::throw_error(Slot& slot) { std::rethrow_exception(slot.take<std::exception_ptr>()); }

Checkpoint EngineRun::checkpoint() const {
  Checkpoint checkpoint;
  checkpoint.kind = plan_->resumes_by_position ? Checkpoint::Kind::position : Checkpoint::Kind::replay;
  checkpoint.pipeline = plan_->text;
  checkpoint.epoch = epoch_;
  checkpoint.delivered = delivered_;
  checkpoint.epoch_ended = epoch_ended_;
  checkpoint.has_last = last_.has_value();
  if (last_) checkpoint.last = *last_;
  checkpoint.errors_since = errors_since_;
  return checkpoint;
}

RunStats EngineRun::stats() const {
  RunStats stats = stats_;
  if (!engine_) return stats;
  const Snapshot snapshot = engine_->snapshot();
  stats.dropped = engine_->dropped();
  stats.overshoot_bytes = snapshot.overshoot_bytes;
  stats.memory_peak = snapshot.memory_peak;
  return stats;
}

}  // namespace

std::shared_ptr<RunCore> start_run(const graph::NodeRef& node, const RunOptions& options) {
  return std::make_shared<EngineRun>(exec::compile(node), options);
}

}  // namespace penstock::detail
