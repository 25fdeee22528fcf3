#include "bench/scorecard/plant.h"

#include <algorithm>
#include <cmath>

namespace penstock::scorecard {
namespace {

constexpr Time kTick = autotune::Policy::kPeriod, kCalmTick = autotune::Policy::kCalmPeriod;
constexpr double kLowWeight = 0.107;       // nice +10 against 0
constexpr std::int64_t kPoolThreads = 256;

std::int64_t whole_slots(double cores) { return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(cores - 0.01))); }

}  // namespace

Plant::Plant(const PlantSpec& spec, std::uint64_t seed)
    : host_(spec.host),
      processor_(spec.host.cores),
      arena_(whole_slots(std::min(host_.quota.at(0, host_.cores), host_.cores))),
      pool_(std::max(kPoolThreads, spec.chains.empty() ? 0 : spec.chains.front().open_io)),
      tick_(*this),
      cpu_budget_(std::min(host_.quota.at(0, host_.cores), host_.cores)) {
  for (std::size_t i = 0; i < spec.chains.size(); ++i) chains_.push_back(std::make_unique<Chain>(*this, spec.chains[i], 1'000 * seed + i));
}

void Plant::run_until(Time end) {
  if (!is_started_) {
    is_started_ = true;
    read_limits();
    for (auto& chain : chains_) chain->start();
    settle();
    events_.add(kTick, tick_);
  }
  for (;;) {
    const Time computed = processor_.next(now_);
    const Time next = std::min(computed, events_.next());
    if (next > end) break;
    processor_.advance(next - now_);
    now_ = next;
    if (computed > next || !processor_.wake_finished()) {
      if (events_.next() == now_) events_.take().wake();
    }
    settle();
  }
  processor_.advance(end - now_);
  now_ = end;
}

void Plant::settle() {
  for (auto& chain : chains_) chain->settle();
}

void Plant::Tick::wake() {
  plant.read_limits();
  plant.read_clocks();
  for (auto& chain : plant.chains_) chain->record();
  const bool calm = std::ranges::all_of(plant.chains_, [](const auto& chain) { return chain->is_calm(); });
  if (!calm || plant.now_ % kCalmTick == 0) {
    for (auto& chain : plant.chains_) chain->look();
  }
  plant.events_.add(plant.now_ + kTick, *this);
}

// The host changes at once; the process looks at its limits once a second.
void Plant::read_limits() {
  const double quota = host_.quota.at(now_, host_.cores);
  processor_.set_quota(quota);
  processor_.set_foreign(static_cast<int>(host_.foreign.at(now_, 0)));
  if (now_ % kSecond != 0) return;
  cpu_budget_ = std::min(quota, host_.cores);
  if (whole_slots(cpu_budget_) != arena_.slots()) arena_.set_slots(whole_slots(cpu_budget_));
}

void Plant::look_at_priorities() {
  const bool low = std::ranges::all_of(chains_, [](const auto& chain) { return chain->gives_way(); });
  processor_.set_worker_weight(low ? kLowWeight : 1);
}

void Plant::read_clocks() {
  if (now_ % kBetweenClocks != 0) return;
  account_users();
  const double workers = processor_.cpu_used(Processor::workers);
  clocks_read_at_ = now_;
  process_cpu_ = static_cast<Time>(workers + processor_.cpu_used(Processor::consumers));
  workers_cpu_ = static_cast<Time>(workers - user_cpu_);
}

void Plant::account_users() {
  const double clock = processor_.clock(Processor::workers);
  user_cpu_ += (clock - user_clock_) * static_cast<double>(user_threads_);
  user_clock_ = clock;
}

void Plant::run_user_thread(double work, Client& client) {
  account_users();
  ++user_threads_;
  processor_.add(Processor::workers, work, client);
}

void Plant::user_thread_ended() {
  account_users();
  --user_threads_;
}

double Plant::cpu_of_workers() const { return processor_.cpu_used(Processor::workers); }

void Plant::describe_process(Snapshot& snapshot) const {
  snapshot.process_cpu_ns = process_cpu_;
  snapshot.workers_cpu_ns = workers_cpu_;
  snapshot.clocks_ns = clocks_read_at_;
  snapshot.cpu_budget = cpu_budget_;
}

}  // namespace penstock::scorecard
