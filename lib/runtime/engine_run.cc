#include "lib/runtime/engine_run.h"

#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "lib/core/clock.h"
#include "lib/exec/compile.h"
#include "lib/graph/node.h"
#include "lib/graph/repeats.h"
#include "lib/rewrite/rewrite.h"
#include "lib/runtime/forks.h"
#include "lib/runtime/machine_text.h"
#include "lib/runtime/other_ranks.h"
#include "lib/runtime/resumable.h"
#include "lib/runtime/run_checks.h"
#include "lib/runtime/runtime.h"
#include "lib/runtime/save_point_bytes.h"
#include "lib/runtime/turn.h"

namespace penstock::detail {
namespace {

using exec::Engine;
using runtime::Turn;

std::shared_ptr<const exec::Plan> plan_of(const graph::NodeRef& node, const RunOptions& options) {
  return exec::compile(node, rewrite::rewritten(node, options.rewrites));
}

// By the clock of every machine that runs outside tests (now_ns()).
std::int64_t moment_of(const std::chrono::steady_clock::time_point* deadline) {
  return deadline == nullptr ? kNever : std::chrono::nanoseconds(deadline->time_since_epoch()).count();
}

}  // namespace

EngineRun::EngineRun(std::shared_ptr<const exec::Plan> plan, const RunOptions& options,
                     runtime::PolicyMaker make_policy, graph::NodeRef loop, const exec::SaveSpacing& save_spacing)
    : plan_(std::move(plan)),
      loop_(std::move(loop)),
      options_(options),
      make_policy_(std::move(make_policy)),
      save_spacing_(save_spacing),
      epoch_(options.first_epoch) {
  if (!options_.trace.empty()) trace_file_ = std::make_shared<runtime::TraceFile>(options_.trace);
  if (!options_.warm_start.empty()) {
    tuning_file_ =
        std::make_shared<runtime::TuningFile>(options_.warm_start, plan_->work_text, runtime::machine_text());
  }
  options_.pass = options_.pass.value_or(exec::BodyScope::pass());
  if (options_.resume_from) {
    runtime::check_can_resume(*options_.resume_from, *plan_, *options_.pass);
    stand_at(*options_.resume_from);
  }
  nested_ = exec::BodyScope::nest();  // last: what throws here is not destroyed, and so would not leave
}

EngineRun::~EngineRun() {
  if (belongs_to_another_process()) {
    leave_engine_to_parent();
  } else {
    if (nested_) nested_->leave();
    drop_engine();
    if (loop_) end_loop();
  }
}

// Where there is no memory for it, the next loop takes this one for one of which only the first pass was begun.
void EngineRun::end_loop() const noexcept {
  const auto last_pass = progress_.last ? std::optional<std::uint32_t>(progress_.last->pass) : std::nullopt;
  try {
    graph::loop_is_over(loop_, last_pass, progress_.ended);
  } catch (const std::bad_alloc&) {
  }
}

// What a request holds until it returns: a function that runs meanwhile may destroy whatever owns the run. Refused
// inside a call of the run itself, before anything is looked at that is the consumer's alone, and without holding the
// run: held by one of its calls it would not wait for it.
std::shared_ptr<EngineRun> EngineRun::held(const char* request) {
  const auto engine = exec::BodyScope::inside_any() ? engine_or_null() : nullptr;
  if (engine) engine->refuse_own_body(request);
  return shared_from_this();
}

bool EngineRun::belongs_to_another_process() const noexcept {
  const std::uint32_t owner = process_.load(std::memory_order_relaxed);
  return owner != 0 && owner != runtime::process_number();
}

void EngineRun::check_process() const {
  if (const std::uint32_t owner = process_.load(std::memory_order_relaxed); owner != 0) runtime::check_process(owner);
}

std::shared_ptr<Engine> EngineRun::engine_or_null() const {
  check_process();
  MutexLock lock(mutex_);
  return engine_;
}

// How many epochs may be read one after the other, this one included.
std::uint32_t EngineRun::epochs_from(std::uint32_t epoch) const {
  const std::uint32_t end = options_.first_epoch + options_.epochs;
  return epoch < options_.first_epoch || epoch >= end ? 1 : end - epoch;
}

void EngineRun::stand_at(const Checkpoint& from) {
  replay_ = runtime::Replay(from, *plan_);
  epoch_ = from.epoch;
  progress_ = {.ended = from.epoch_ended,
               .delivered = from.delivered,
               .errors_since = from.errors_since,
               .behind = replay_.behind()};
  if (from.has_last) progress_.last = from.last;
}

std::shared_ptr<RunCore> EngineRun::begin_epoch(std::uint32_t epoch) {
  auto self = held("epoch()");
  const Turn turn(turn_, "epoch()");
  const exec::NestedRun::Request request(nested_.get());
  check_process();
  if (nested_) nested_->belong_to_reader();
  refuse_if_unwanted();
  const bool is_cut = progress_.is_cut_short || (nested_ && nested_->is_cut());
  // not begun yet, or resumed into: it goes on there
  const bool is_there = has_given_nothing_of(epoch) && !is_cut;
  try {
    if (!is_there) go_to(epoch);
  } catch (...) {
    note_if_cut();
    throw;
  }
  return self;
}

bool EngineRun::has_given_nothing_of(std::uint32_t epoch) const noexcept {
  return epoch == epoch_ && !progress_.ended && !progress_.begun && !replay_.has_failed();
}

// What has been cut is of no use to a call that nobody wants itself: only a wanted one begins it anew.
void EngineRun::refuse_if_unwanted() {
  if (!nested_ || !nested_->is_cut() || !nested_->is_unwanted()) return;
  note_if_cut();
  throw Error(ErrorCode::cancelled, exec::NestedRun::kUnwanted);
}

void EngineRun::go_to(std::uint32_t epoch) {
  if (nested_ && nested_->is_cut()) return begin_anew(epoch);
  {
    MutexLock lock(mutex_);
    if (!engine_) return move_to(epoch);
  }
  send_engine_to(epoch);
  move_to(epoch);
}

void EngineRun::move_to(std::uint32_t epoch) {
  epoch_ = epoch;
  progress_ = {};
  replay_ = {};
  options_.resume_from = nullptr;
}

void EngineRun::send_engine_to(std::uint32_t epoch) {
  const bool is_read_ahead = reads_ == epoch && epoch != epoch_;
  if (is_read_ahead) return;
  {
    MutexLock lock(mutex_);
    at_end_.reset();
  }
  if (reads_) engine().abandon_epoch();
  engine().begin_epoch(epoch, epochs_from(epoch));
  reads_ = epoch;
}

RunCore::Status EngineRun::next(Element& out, const std::chrono::steady_clock::time_point* deadline) {
  const auto self = held("next()");
  const Turn turn(turn_, "next()");
  const exec::NestedRun::Request request(nested_.get());
  const std::int64_t moment = moment_of(deadline);
  replay_.check();
  for (bool first = true; !progress_.ended && !progress_.is_cut_short; first = false) {
    // A slot that is there is taken whatever the time, so a long stretch of those that are left out needs a look of its
    // own.
    if (!first && now_ns() >= moment) return Status::timeout;
    Slot slot;
    if (take_slot(slot, moment) == Engine::Taken::timeout) return Status::timeout;
    check_whole();
    if (hand_over(slot, out)) return Status::element;
  }
  check_whole();
  return Status::end;
}

Engine::Taken EngineRun::take_slot(Slot& slot, std::int64_t moment) {
  try {
    return engine().next(slot, moment);
  } catch (...) {
    note_if_cut();
    throw;
  }
}

void EngineRun::note_if_cut() {
  if (!nested_ || !nested_->is_unwanted()) return;
  nested_->note_cut();
  exec::BodyScope::note_cuts();
  tell_reader();
}

// That the run is cut; whether that is news.
bool EngineRun::tell_reader() {
  const Told reader{nested_->is_unwanted(), exec::BodyScope::sequence_here()};
  progress_.is_cut_short = true;
  return std::exchange(progress_.told, reader) != reader;
}

// Calls leave out what nobody wants; so a list may be short and an end early, and a caller that keeps what it has read
// is not to take them for the true ones. It is told once in each pass: a loop that goes on behind errors is to come to
// an end.
void EngineRun::check_whole() {
  if (nested_ == nullptr || !nested_->is_cut()) return;
  exec::BodyScope::note_cuts();
  if (tell_reader()) throw Error(ErrorCode::cancelled, exec::NestedRun::kUnwanted);
}

// Whether the consumer has an element of it.
bool EngineRun::hand_over(Slot& slot, Element& out) {
  if (slot.kind() == Slot::Kind::pass_end) {
    if (slot.level() == plan_->repeats().size()) end_epoch();
    check_resumed();
    return false;
  }
  if (replay_.takes(slot)) {
    if (auto found = replay_.take_found()) progress_.behind = *std::move(found);
    return false;
  }
  if (slot.kind() == Slot::Kind::save_point) {
    progress_.behind = {slot.take<exec::SavePointRef>()};
    return false;
  }
  deliver(slot, out);
  return slot.is_element();
}

void EngineRun::end_epoch() {
  progress_.ended = true;
  reads_.reset();
  if (epochs_from(epoch_) > 1) reads_ = epoch_ + 1;
  if (reads_) return;
  const Snapshot now = snapshot();
  MutexLock lock(mutex_);
  at_end_ = observer_->whole(now);
}

// Counts, and hands the element over or throws its error, unless that is to be skipped.
void EngineRun::deliver(Slot& slot, Element& out) {
  progress_.begun = true;
  ++progress_.delivered;
  progress_.behind.since.add(slot);
  if (slot.is_element()) {
    progress_.last = slot.stamp;
    progress_.errors_since = 0;
    ++delivered_;
    out = std::move(slot.value);
    return;
  }
  ++progress_.errors_since;
  ++errors_;
  if (!may_skip()) std::rethrow_exception(slot.take<std::exception_ptr>());
  ++skipped_;
}

// At a mark.
void EngineRun::check_resumed() {
  const bool has_missed = replay_.awaits_place() && engine().has_missed_resumption();
  const auto missing = replay_.end_pass(has_missed, progress_.ended);
  if (!missing) return;
  progress_.ended = true;
  throw Error(ErrorCode::data_loss,
              "the checkpoint stands in epoch " + std::to_string(epoch_) + " behind " + *missing +
                  " this time. Resume with the input that it was taken of, or start the epoch anew");
}

bool EngineRun::may_skip() const {
  const std::int64_t most = options_.on_error.skip_at_most;
  return most < 0 || skipped_ < most;
}

// A run that has begun is not kept alive: the caller may be a thread that one of its calls waits for, and by holding
// the run it would keep its owner from waiting for that call.
std::vector<Knob> EngineRun::knobs() {
  auto begun = engine_or_null();
  const auto self = begun ? nullptr : shared_from_this();
  for (; !begun; begun = engine_or_null()) engine();
  std::vector<Knob> knobs = begun->knobs();
  for (Knob& knob : knobs) knob = runtime::of_this_process(std::move(knob));
  return knobs;
}

Checkpoint EngineRun::checkpoint() const {
  const Turn turn(turn_, "checkpoint()");
  if (!progress_.ended && progress_.delivered > 0) runtime::check_has_place(*plan_);
  Checkpoint checkpoint;
  checkpoint.kind = plan_->resumes_by_position ? Checkpoint::Kind::position : Checkpoint::Kind::replay;
  checkpoint.pipeline = plan_->text;
  checkpoint.epoch = epoch_;
  checkpoint.delivered = progress_.delivered;
  checkpoint.epoch_ended = progress_.ended;
  checkpoint.has_last = progress_.last.has_value();
  if (progress_.last) checkpoint.last = *progress_.last;
  checkpoint.errors_since = progress_.errors_since;
  if (progress_.behind.at && !progress_.ended) {
    checkpoint.save_point = runtime::bytes_of(progress_.behind, *plan_);
    checkpoint.since_save_point = progress_.behind.since.slots;
  }
  return checkpoint;
}

Snapshot EngineRun::snapshot() const {
  const auto engine = engine_or_null();
  return engine ? engine->snapshot() : Snapshot();
}

Explanation EngineRun::explain() const {
  const auto engine = engine_or_null();
  if (!engine) return {};
  std::shared_ptr<runtime::Observer> observer;
  std::optional<autotune::Window> at_end;
  {
    MutexLock lock(mutex_);
    observer = observer_;
    at_end = at_end_;
  }
  return observer->explain(at_end ? *at_end : observer->recent(engine->snapshot()));
}

std::vector<Decision> EngineRun::decisions() const {
  if (!engine_or_null()) return {};
  MutexLock lock(mutex_);
  return observer_->decisions();
}

RunStats EngineRun::stats() const {
  RunStats stats;
  stats.delivered = delivered_;
  stats.errors = errors_;
  stats.skipped = skipped_;
  if (const auto engine = engine_or_null()) {
    const Snapshot snapshot = engine->snapshot();
    stats.dropped = engine->report().dropped();
    stats.overshoot_bytes = snapshot.overshoot_bytes;
    stats.memory_peak = snapshot.memory_peak;
    for (const StageSnapshot& stage : snapshot.stages) stats.copied_bytes += stage.copied_bytes;
  }
  return stats;
}

std::shared_ptr<RunCore> start_run(const graph::NodeRef& node, const RunOptions& options) {
  return runtime::start_run(node, options, autotune::default_policy);
}

std::shared_ptr<RunCore> start_loop(const graph::NodeRef& node) {
  RunOptions options{.epochs = 1, .first_epoch = graph::take_epoch(node)};
  const graph::NodeRef loop = graph::for_one_loop(node);
  if (loop) options.pass = 0;  // as in runtime::start_run()
  return std::make_shared<EngineRun>(plan_of(loop ? loop : node, options), options, autotune::default_policy, loop);
}

}  // namespace penstock::detail

std::shared_ptr<penstock::detail::RunCore> penstock::runtime::start_run(const graph::NodeRef& node,
                                                                        const RunOptions& options,
                                                                        PolicyMaker make_policy,
                                                                        const exec::SaveSpacing& save_spacing) {
  check_options(options);
  RunOptions own = options;
  if (node && node->counts_openings()) own.pass = 0;  // inside another run, too: it counts its own passes
  own.resume_from = for_this_rank(own.resume_from, node);
  return std::make_shared<detail::EngineRun>(detail::plan_of(node, own), own, std::move(make_policy), nullptr,
                                             save_spacing);
}
