#include "lib/runtime/attendant.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "lib/runtime/memory_warning.h"
#include "lib/runtime/stuck_calls.h"

namespace penstock::runtime {
namespace {

constexpr std::int64_t kStarvedTime = 100'000'000;            // ns, before a run is lent a thread
constexpr std::int64_t kFirstReliefPatience = 100'000'000;    // ns
constexpr std::int64_t kShortestReliefPatience = 10'000'000;  // ns
constexpr std::int64_t kStuckTime = 3'000'000'000;            // ns
constexpr double kBusyCores =
    0.02;  // of one core: less than a call gets on a crowded machine, more than calls that wait

}  // namespace

Attendant::Attendant(AttendantHost& host, const std::shared_ptr<exec::Engine>& engine, int asked_permits,
                     std::unique_ptr<autotune::Policy> policy, std::shared_ptr<Observer> observer)
    : host_(&host),
      engine_(engine),
      asked_permits_(asked_permits),
      claims_(engine->settings().open_io),
      policy_(std::move(policy)),
      knobs_(policy_ ? engine->knobs() : std::vector<Knob>()),
      observer_(std::move(observer)),
      relief_patience_(kFirstReliefPatience),
      patience_(kStuckTime) {}

bool Attendant::look(const exec::Surroundings& clocks) {
  const auto engine = engine_.lock();
  if (engine == nullptr) return false;
  if (engine->stopped()) {
    asked_permits_ = 0;
    is_calm_ = true;
    warn_of_stuck_calls(*engine);
    return true;
  }
  engine->look_after(policy_ != nullptr);
  exec::Surroundings surroundings = clocks;
  surroundings.cpu_budget = cpu_share_;
  surroundings.open_io_limit = std::max<std::int64_t>(static_cast<std::int64_t>(io_share_), 1);
  engine->report().set_surroundings(surroundings);
  engine->report().snapshot(snapshot_);
  relieve(*engine);
  warn_of_types();
  warn_of_memory();
  warn_of_stand_still(*engine);
  if (const auto& trace = engine->settings().trace) trace->look(snapshot_);
  if (policy_) policy_->tick(snapshot_, knobs_);
  is_calm_ = !policy_ || policy_->is_calm(snapshot_.time_ns);
  observer_->see(snapshot_, policy_.get());
  return true;
}

// Calls of one that has ended, which have not returned, are not waited for.
void Attendant::claim(double all_cpus) {
  const auto engine = engine_.lock();
  lives_ = engine != nullptr && !engine->stopped();
  if (lives_) claims_.look(snapshot_, std::min(static_cast<double>(engine->settings().permits), all_cpus));
}

void Attendant::grant(double cpus, double blocking_calls) noexcept {
  cpu_share_ = cpus;
  io_share_ = blocking_calls;
}

std::optional<bool> Attendant::gives_way() const {
  const auto engine = engine_.lock();
  if (engine == nullptr || engine->stopped()) return std::nullopt;
  return engine->state().gives_way.load(std::memory_order_relaxed);
}

// Also where calls of its own have all its permits and wait, for what the stages behind hold, say: then nothing moves
// while the consumer waits. Once that has been so, it is believed sooner.
void Attendant::relieve(exec::Engine& engine) {
  const std::int64_t now = host_->now();
  const std::int64_t stands_for = stand_still_.look(snapshot_);
  if (stands_for == 0) engine.relief().moves();
  const Cause cause = stands_for > 0 ? cause_of_stand(snapshot_.time_ns - stands_for) : Cause::unknown;
  if (cause == Cause::computes) relief_patience_ = kFirstReliefPatience;
  if (stands_for >= (cause == Cause::waits ? relief_patience_ : StandStill::kPatience)) {
    if (!engine.relief().relieve(true)) return;
    relief_patience_ = std::max(relief_patience_ / 2, kShortestReliefPatience);
    if (cause == Cause::waits && snapshot_.runs == 1) stand_still_.was_helped(snapshot_);
    return;
  }
  if (!engine.relief().is_starved()) return starved_since_.reset();
  if (!starved_since_) starved_since_ = now;
  if (now - *starved_since_ >= kStarvedTime) engine.relief().relieve();
}

// Calls that have used the CPU since nothing moves are merely long, and end by themselves. That is known at the second
// look. Of several runs nobody can say whose CPU time it was: they are believed to wait.
Attendant::Cause Attendant::cause_of_stand(std::int64_t stands_since) {
  if (snapshot_.runs != 1) return Cause::waits;
  const std::int64_t now = host_->now(), cpu_ns = host_->cpu_of_workers();
  if (std::exchange(stands_since_, stands_since) != stands_since) {
    looked_at_ = now;
    cpu_then_ = cpu_ns;
    return Cause::unknown;
  }
  const bool computes = static_cast<double>(cpu_ns - cpu_then_) > kBusyCores * static_cast<double>(now - looked_at_);
  return computes ? Cause::computes : Cause::waits;
}

void Attendant::warn_of_types() {
  for (const StageSnapshot& stage : snapshot_.stages) {
    if (stage.unseen_type.empty() || !types_.insert(stage.unseen_type).second) continue;
    const std::string text = unseen_memory_warning(stage);
    if (!text.empty()) host_->tell_of_type(stage.unseen_type, text);
  }
}

void Attendant::warn_of_memory() {
  if (warned_) return;
  const std::string text = memory_warning(snapshot_);
  warned_ = !text.empty();
  if (warned_) host_->tell(text);
}

// Once to the user; explain() tells it for as long as it lasts.
void Attendant::warn_of_stand_still(const exec::Engine& engine) {
  const std::string text = stand_still_.text(snapshot_, engine.plan());
  if (stand_still_.is_news(snapshot_)) host_->tell(text);
  observer_->stands_still(text);
}

// Again after twice the time, for as long as it lasts.
void Attendant::warn_of_stuck_calls(const exec::Engine& engine) {
  const std::int64_t now = host_->now();
  if (!patient_until_) patient_until_ = now + patience_;
  if (now < *patient_until_) return;
  patience_ *= 2;
  patient_until_ = now + patience_;
  for (const std::string& line : stuck_calls(engine.snapshot(), engine.plan())) host_->tell(line);
}

// ------------------------------------------------------------------------------------------------ all of them

void Attendants::add(std::vector<Attendant>& more) {
  all_.reserve(all_.size() + more.size());
  std::move(more.begin(), more.end(), std::back_inserter(all_));
  more.clear();
}

void Attendants::look(const exec::Surroundings& clocks) {
  std::erase_if(all_, [&clocks](Attendant& each) { return !each.look(clocks); });
}

std::int64_t Attendants::divide(double cpus, double blocking_calls) {
  Claims of_cpus, of_calls;
  std::int64_t live = 0;
  for (Attendant& each : all_) {
    each.claim(cpus);
    live += each.lives();
    of_cpus.push_back(each.cpus());
    of_calls.push_back(each.blocking_calls());
  }
  const Shares cpu_shares = shares_of(cpus, of_cpus);
  const Shares call_shares = shares_of(blocking_calls, of_calls);
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].grant(cpu_shares[i], call_shares[i]);
  return live;
}

bool Attendants::is_calm() const { return std::ranges::all_of(all_, &Attendant::is_calm); }

std::int64_t Attendants::asked_permits() const {
  std::int64_t most = 0;
  for (const Attendant& each : all_) most = std::max<std::int64_t>(most, each.asked_permits());
  return most;
}

// Threads are shared: one run that does not wish its workers to give way is enough.
bool Attendants::all_give_way() const {
  bool some = false;
  for (const Attendant& each : all_) {
    const auto gives_way = each.gives_way();
    if (gives_way == false) return false;
    some = some || gives_way;
  }
  return some;
}

std::int64_t Attendants::memory_used() const {
  std::int64_t sum = 0;
  for (const Attendant& each : all_) sum += each.snapshot().memory_used;
  return sum;
}

std::int64_t Attendants::least_memory_limit() const {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Attendant& each : all_) least = std::min(least, each.snapshot().memory_limit);
  return least;
}

}  // namespace penstock::runtime
