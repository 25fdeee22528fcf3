#include "autotune/hill_policy.h"

#include <algorithm>
#include <cmath>

#include "autotune/model.h"

namespace penstock::autotune {
namespace {

constexpr std::int64_t kLongestPeriod = 60'000'000'000;
constexpr std::int64_t kMost = 64;  // calls of a stage

struct Server {
  double work_s = 0;  // wall time of a call, for one element of the root
  std::int64_t calls = 1;
  bool parallel = false;
  double time() const { return work_s / static_cast<double>(calls); }
};

std::vector<Server> servers_of(const Snapshot& now) {
  const Rates life = rates_between(Snapshot(), now);
  std::vector<Server> servers;
  for (std::size_t i = 0; i < now.stages.size(); ++i) {
    const StageRates& stage = life.stages[i];
    servers.push_back({stage.call_s > 0 ? stage.visits * stage.call_s : 0, 1, now.stages[i].parallel});
  }
  return servers;
}

// The slowest that may have another call; null: there is none.
Server* slowest(std::vector<Server>& servers) {
  const auto most = std::max_element(servers.begin(), servers.end(),
                                     [](const Server& a, const Server& b) { return a.time() < b.time(); });
  return most != servers.end() && most->parallel && most->calls < kMost ? &*most : nullptr;
}

// With so many calls that none takes longer than all work would on all cores, where that can be had.
std::vector<Server> climbed(const Snapshot& now) {
  std::vector<Server> servers = servers_of(now);
  double work = 0;
  for (const Server& server : servers) work += server.work_s;
  const double wanted = work / std::ceil(now.cpu_budget - 0.01);
  for (Server* server = slowest(servers); server != nullptr && server->time() > wanted; server = slowest(servers))
    ++server->calls;
  return servers;
}

}  // namespace

void HillPolicy::tick(const Snapshot& now, std::vector<Knob>& knobs) {
  for (Knob& knob : knobs) {
    if (knob.kind != KnobKind::prefetch) continue;
    if (const auto depth = prefetch_.wish(now)) move(knob, *depth, Reason::rule, now);
  }
  if (now.time_ns < due_ns_) return;
  due_ns_ = now.time_ns + period_ns_;
  period_ns_ = std::min(2 * period_ns_, kLongestPeriod);
  climb(now, knobs);
}

void HillPolicy::climb(const Snapshot& now, std::vector<Knob>& knobs) {
  const std::vector<Server> servers = climbed(now);
  for (Knob& knob : knobs) {
    if (knob.stage < 0) continue;
    const Server& server = servers[static_cast<std::size_t>(knob.stage)];
    if (!server.parallel) continue;
    if (knob.kind == KnobKind::parallelism) move(knob, server.calls, Reason::rule, now);
    if (knob.kind == KnobKind::window) move(knob, 2 * server.calls, Reason::rule, now);
  }
}

}  // namespace penstock::autotune
