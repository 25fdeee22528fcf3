#include "lib/exec/meter.h"

#include <limits>
#include <string>
#include <utility>

#include <penstock/random.h>
#include <penstock/service_times.h>

#include "lib/base/type_name.h"

namespace penstock::exec {
namespace {

constexpr double kBetweenSamples =
    4'000'000;  // ns, on average: to read the thread's clocks before and after a call costs 4 to 6 us
// How much of an outlier (a result much larger than others) is forgotten with each call: after a hundred calls a
// twenty-fifth is left. So one outlier slows the next calls, and not the run; frequent outliers are reserved for.
constexpr double kForgets = 1.0 / 32;
constexpr std::int64_t kFirstSamples = 8;  // calls that are all sampled: where a stage belongs is to be known soon

// A struct may tell its members (Fields), and one of them may own memory that nobody can tell.
std::string name_of_unseen(const Sealed& results) {
  const std::string whole = type_name(*results.unseen);
  return *results.unseen == *results.unseen_part
             ? whole
             : whole + " (because of " + type_name(*results.unseen_part) + " in it)";
}

void approach(double& average, double value) noexcept { average += (average > 0 ? 0.1 : 1.0) * (value - average); }

}  // namespace

Meter::Meter(const StageTraits& traits)
    : traits_(traits),
      bytes_(static_cast<double>(traits.plan.gives.bytes)),
      accounted_until_(traits.machine.now()),
      last_call_ns_(accounted_until_) {
  const StagePlan& plan = traits.plan;
  counters.name = plan.label.name;
  counters.position = plan.label.position;
  const Edge& edge = traits.neighbours.edges().out_of(traits.index);
  counters.feeds = edge.to == kOutlet ? -1 : static_cast<int>(edge.to);
  counters.places_end = plan.batch.places_end;
  counters.parallel = !plan.serial;
  counters.ordered = plan.order == Order::kept;
  counters.completes_later = plan.form == Form::completes_later;
  counters.form_is_known = plan.form_is_known;
  counters.cycle_length = plan.nest.cycle_length;
}

void Meter::count_dataset(Inner& inner) noexcept {
  if (inner.was_opened && !std::exchange(inner.is_counted, inner.was_opened)) {
    ++counters.datasets_opened;
    ++counters.datasets_open;
    counters.opening_ns += inner.opening_ns;
  }
  if (inner.has_ended && inner.is_counted) --counters.datasets_open;
}

void Meter::account(std::int64_t now, std::int64_t running, bool is_starved, bool is_blocked) noexcept {
  const std::int64_t time = now - accounted_until_;
  accounted_until_ = now;
  if (!traits_.keeps_statistics) return;
  counters.slot_ns += running * time;
  if (is_starved) counters.starved_ns += time;
  if (is_blocked) counters.blocked_ns += time;
}

// Drawn for each call, by the time that has passed since the last one began: so however many are under way, they are
// sampled no more often than one in kBetweenSamples, and what follows a long call has no better chance than others, as
// it would by the clock alone.
bool Meter::sample_now(const Group& group) noexcept {
  if (!traits_.keeps_statistics) return false;
  between_calls_ns_ +=
      0.05 * (static_cast<double>(group.start.ns - std::exchange(last_call_ns_, group.start.ns)) - between_calls_ns_);
  if (counters.calls <= kFirstSamples) return true;
  const std::uint64_t drawn = mix64(static_cast<std::uint64_t>(counters.calls)) >> 32;
  return static_cast<double>(drawn) * kBetweenSamples < between_calls_ns_ * 0x1p32;
}

// The rest of a sample is counted by learn().
void Meter::count_use(const ThreadUse& use) noexcept {
  counters.sampled_cpu_ns += use.cpu_ns;
  counters.sampled_delay_ns += use.delay_ns;
}

std::int64_t Meter::count_held(std::int64_t bytes) noexcept { return bytes - std::exchange(held_bytes_, bytes); }

void Meter::count_results(const Sealed& results) {
  counters.bytes_out += results.bytes;
  counters.errors += results.errors;
  made_ += results.elements;
  largest_bytes_ = std::max(largest_bytes_, static_cast<double>(results.largest));
  if (results.unseen != nullptr && counters.unseen_type.empty()) counters.unseen_type = name_of_unseen(results);
}

void Meter::learn(const Group& group, std::int64_t inputs, std::int64_t output_bytes, std::int64_t now) noexcept {
  counters.completed += inputs;
  const std::int64_t time = now - group.start.ns - group.sample.asking_ns;
  const std::int64_t timed =
      inputs + (traits_.plan.serial && !traits_.is_head ? 0 : static_cast<std::int64_t>(group.taken));
  if (group.sample.is_taken) {
    ++counters.samples;
    counters.sampled_elements += timed;
    counters.sampled_wall_ns += time;
    counters.sampled_waiting_ns += group.sample.waited_ns(time);
    counters.sampling_ns += group.sample.asking_ns;
  }
  if (timed == 0) return;
  const double each = static_cast<double>(time) / static_cast<double>(timed);
  if (traits_.keeps_statistics) counters.service_times[service_time_bucket(static_cast<std::int64_t>(each))] += timed;
  approach(ns_per_slot_, each);
  if (inputs == 0) return;
  approach(bytes_, static_cast<double>(output_bytes) / static_cast<double>(inputs));
  if (largest_bytes_ > bytes_) largest_bytes_ += kForgets * (bytes_ - largest_bytes_);
  approach(input_bytes_, static_cast<double>(group.inputs.bytes) / static_cast<double>(inputs));
}

double Meter::results_each(double least) const noexcept {
  return std::max(least,
                  static_cast<double>(made_) / static_cast<double>(std::max<std::int64_t>(counters.completed, 1)));
}

// Bytes of so many elements in a stream op: a value needs no slot there, but what the op has in place of it.
std::int64_t Meter::required_bytes(std::int64_t elements) const noexcept {
  if (elements == std::numeric_limits<std::int64_t>::max()) return 0;  // all that come: nobody knows
  const double place = static_cast<double>(traits_.plan.holding.bytes_of_place) - static_cast<double>(sizeof(Slot));
  return static_cast<std::int64_t>(static_cast<double>(elements) * std::max(input_bytes_ + place, 0.0));
}

void Meter::describe(std::int64_t now, std::int64_t running, StageSnapshot& out) const {
  out = counters;
  out.made = made_;
  out.slot_ns += running * (now - accounted_until_);
  out.bytes_held = held_bytes_;
  out.bytes_required = required_bytes(std::min(traits_.plan.holding.elements, counters.completed));
  out.bytes_required_in_all = required_bytes(traits_.plan.holding.elements);
}

}  // namespace penstock::exec
