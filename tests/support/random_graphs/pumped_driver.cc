#include "tests/support/random_graphs/pumped_driver.h"

#include <chrono>
#include <optional>
#include <utility>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "lib/exec/resume_body.h"
#include "lib/rewrite/rewrite.h"
#include "lib/runtime/save_point_bytes.h"
#include "tests/support/pumped.h"
#include "tests/support/random_graphs/knob_mover.h"
#include "tests/support/save_spacing.h"

namespace random_graphs {

namespace exec = ps::exec;

void PumpedCourier::send(std::unique_ptr<Parcel> parcel) {
  if (!pumped_) return parcel->deliver();
  parcels_.push_back(std::move(parcel));
}

std::int64_t PumpedCourier::release() {
  const auto late = static_cast<std::int64_t>(parcels_.size());
  for (auto& parcel : std::exchange(parcels_, {})) parcel->deliver();
  return late;
}

bool PumpedCourier::deliver_one(Random& random) {
  if (parcels_.empty()) return false;
  const auto chosen = parcels_.begin() + random.below(static_cast<std::int64_t>(parcels_.size()));
  const std::unique_ptr<Parcel> parcel = std::move(*chosen);
  parcels_.erase(chosen);
  parcel->deliver();
  return true;
}

namespace {

// Between two deliveries; a hundred times what any graph needs.
constexpr std::int64_t kMostSteps = 100'000;

class PumpedRun final : public ps::detail::RunCore, public std::enable_shared_from_this<PumpedRun> {
 public:
  PumpedRun(const ps::graph::NodeRef& node, const ps::RunOptions& options, std::uint64_t seed, Coverage& coverage,
            std::shared_ptr<PumpedCourier> courier)
      : plan_(exec::compile(node, ps::rewrite::rewritten(node, options.rewrites))),
        options_(options),
        random_(seed),
        coverage_(coverage),
        courier_(std::move(courier)) {
    if (options_.resume_from) {
      resume(*options_.resume_from);
    } else {
      start(options.first_epoch);
    }
  }
  ~PumpedRun() override {
    engine_->shut_down();
    coverage_.add_moves(moves_);
    coverage_.memory_waits += saw_wait_ ? 1 : 0;
    coverage_.schedules = coverage_.schedules * 31 + random_.next();
  }

  std::shared_ptr<ps::detail::RunCore> begin_epoch(std::uint32_t epoch) override {
    if (epoch != epoch_ || !untouched_) start(epoch);
    return shared_from_this();
  }

  Status next(ps::Element& out, const std::chrono::steady_clock::time_point*) override {
    const PumpedCourier::Pumping pumping(*courier_);
    untouched_ = false;
    while (!ended_) {
      ps::Slot slot = next_slot();
      if (slot.kind() == ps::Slot::Kind::pass_end) {
        ended_ = slot.level() == plan_->repeats().size();
      } else if (slot.kind() == ps::Slot::Kind::save_point) {
        pass_save_point(exec::save_point_of(slot));
      } else if (!was_delivered_before(slot)) {
        deliver(slot, out);
        if (slot.is_element()) return Status::element;
      }
    }
    return Status::end;
  }

  ps::Checkpoint checkpoint() const override {
    ps::Checkpoint place = place_;
    place.kind = plan_->resumes_by_position ? ps::Checkpoint::Kind::position : ps::Checkpoint::Kind::replay;
    place.pipeline = plan_->text;
    place.epoch = epoch_;
    place.epoch_ended = ended_;
    if (behind_.at == nullptr || ended_) return place;
    place.save_point = ps::runtime::bytes_of(behind_, *plan_);
    place.since_save_point = behind_.since.slots;
    return place;
  }
  std::vector<ps::Knob> knobs() override { return engine_->knobs(); }
  ps::Snapshot snapshot() const override { return engine_->snapshot(); }
  ps::RunStats stats() const override {
    ps::RunStats stats = stats_;
    stats.dropped += engine_->report().dropped();
    return stats;
  }
  ps::Explanation explain() const override { return {}; }
  std::vector<ps::Decision> decisions() const override { return {}; }

 private:
  // As lib/runtime/engine_run.cc has it: what was delivered is left out by number, or from a place in the source on.
  void resume(const ps::Checkpoint& from) {
    const bool by_position = from.kind == ps::Checkpoint::Kind::position && from.has_last;
    behind_ = from.save_point.empty() ? exec::SavePoint::Input() : ps::runtime::save_point_of(from.save_point, *plan_);
    behind_.since.slots = behind_.at != nullptr ? from.since_save_point : from.delivered;
    if (from.epoch_ended) {
      start(from.epoch);
    } else {
      if (by_position && plan_->resume_stage == plan_->stages.size()) until_ = from.last;
      start(from.epoch, by_position ? &from.last : nullptr);
      if (from.kind == ps::Checkpoint::Kind::position)
        errors_to_leave_out_ = from.errors_since;
      else
        slots_to_leave_out_ = behind_.since.slots;
    }
    place_ = from;
    place_.save_point.clear();
    place_.since_save_point = 0;
    ended_ = from.epoch_ended;
  }

  void pass_save_point(const exec::SavePointRef& point) {
    if (slots_to_leave_out_ > 0) return;
    behind_ = {point};
  }

  bool was_delivered_before(const ps::Slot& slot) {
    if (slots_to_leave_out_ > 0) return slots_to_leave_out_-- > 0;
    if (until_) return exec::was_delivered(slot, until_);
    const bool again = errors_to_leave_out_ > 0 && !slot.is_element();
    errors_to_leave_out_ = again ? errors_to_leave_out_ - 1 : 0;
    return again;
  }

  void deliver(ps::Slot& slot, ps::Element& out) {
    ++place_.delivered;
    behind_.since.add(slot);
    if (slot.is_element()) {
      ++stats_.delivered;
      place_.has_last = true;
      place_.last = slot.stamp;
      place_.errors_since = 0;
      out = std::move(slot.value);
      return;
    }
    ++place_.errors_since;
    ++stats_.errors;
    const std::int64_t most = options_.on_error.skip_at_most;
    if (most >= 0 && stats_.skipped >= most) std::rethrow_exception(slot.take<std::exception_ptr>());
    ++stats_.skipped;
  }

  void start(std::uint32_t epoch, const ps::Stamp* resume_after = nullptr) {
    if (engine_) {
      engine_->shut_down();
      stats_.dropped += engine_->report().dropped();
      place_ = {};
      behind_ = {};
      slots_to_leave_out_ = errors_to_leave_out_ = 0;
      until_.reset();
    }
    exec::EngineSettings settings;
    settings.memory_bytes = static_cast<std::int64_t>(options_.memory_bytes);
    settings.first_epoch = epoch;
    settings.resume = {resume_after, behind_.at};
    settings.save_spacing = save_spacing_;
    settings.seed = options_.seed;
    settings.machine = &machine_;
    auto launcher = std::make_unique<exec::QueueLauncher>(
        [this](const std::vector<std::size_t>& stages) { return choose(stages.size()); });
    queue_ = launcher.get();
    settings.permits = 1 + random_.below(3);
    if (limits_permits_) settings.gate = &gate_;
    engine_ = exec::Engine::make(plan_, settings, std::move(launcher));
    knobs_ = engine_->knobs();
    epoch_ = epoch;
    ended_ = false;
    untouched_ = true;
  }

  std::size_t choose(std::size_t count) {
    return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count)));
  }

  // Sometimes runs ahead of the consumer, too.
  ps::Slot next_slot() {
    for (std::int64_t extra = random_.one_in(3) ? random_.below(20) : 0; extra > 0; --extra) step();
    for (std::int64_t steps = 0; !engine_->state().outlet.has_slots(); ++steps) {
      if (!step()) throw Failure("stands still: the consumer waits, and nothing can move");
      if (steps == kMostSteps) throw Failure("goes in circles: the consumer waits, and steps lead nowhere");
    }
    ps::Slot slot;
    engine_->next(slot);
    return slot;
  }

  // False: there is nothing that could be done.
  bool step() {
    saw_wait_ = saw_wait_ || some_stage_waits_for_memory(engine_->snapshot());
    if (random_.one_in(4) && courier_->deliver_one(random_)) return true;
    if (!queue_->run_one() && !courier_->deliver_one(random_)) return false;
    for (std::int64_t moves = moves_knobs_ ? random_.below(12) : 0; moves > 0; --moves)
      move_one(knobs_, random_, moves_);
    return true;
  }

  const std::shared_ptr<const exec::Plan> plan_;
  const ps::RunOptions options_;
  Random random_;
  const bool moves_knobs_ = random_.one_in(2);  // else nothing but the stages themselves may end a wait
  const bool limits_permits_ = random_.one_in(2);
  exec::PermitGate gate_{1 + random_.below(3)};
  // Between two looks at the clock. Where calls seem cheap the engine groups elements, else not.
  const std::int64_t pace_ns_ = random_.one_in(2) ? 500 : 50'000;
  std::int64_t time_ns_ = 0;
  const ps::testing::ClockedMachine machine_{[this] { return time_ns_ += random_.below(pace_ns_); }};
  Coverage& coverage_;
  const std::shared_ptr<PumpedCourier> courier_;
  exec::QueueLauncher* queue_ = nullptr;  // the engine's
  std::shared_ptr<exec::Engine> engine_;
  std::vector<ps::Knob> knobs_;
  Coverage::Moves moves_;
  ps::RunStats stats_;
  ps::Checkpoint place_;  // what the consumer has had of the epoch
  const exec::SaveSpacing save_spacing_ = penstock::test::drawn_save_spacing(random_);
  exec::SavePoint::Input behind_;
  std::int64_t slots_to_leave_out_ = 0, errors_to_leave_out_ = 0;
  std::optional<ps::Stamp> until_;
  std::uint32_t epoch_ = 0;
  bool ended_ = false;
  bool untouched_ = true;
  bool saw_wait_ = false;
};

}  // namespace

Driver pumped_driver(std::shared_ptr<PumpedCourier> courier) {
  return {"pumped engine",
          [courier = std::move(courier)](const ps::graph::NodeRef& node, const ps::RunOptions& options, Random& random,
                                         Coverage& coverage) -> RunRef {
            return std::make_shared<PumpedRun>(node, options, random.next(), coverage, courier);
          },
          false};
}

}  // namespace random_graphs
