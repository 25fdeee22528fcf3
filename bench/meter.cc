#include "bench/meter.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

struct Machine {
  double busy_s = 0;    // of all cores since boot
  double stolen_s = 0;  // by other guests of the host
};

// First line of /proc/stat, in clock ticks: cpu user nice system idle iowait irq softirq steal ... (proc(5)).
Machine look_at_machine() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, stolen = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> stolen;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return {(user + nice + system + irq + soft_irq) / ticks, stolen / ticks};
}

}  // namespace

Meter::Meter() {
  const Machine machine = look_at_machine();
  machine_s_ = machine.busy_s;
  stolen_s_ = machine.stolen_s;
  wall_ns_ = now_ns();
  cpu_ns_ = process_cpu_ns();
}

Cost Meter::stop() const {
  Cost cost;
  cost.cpu_s = 1e-9 * static_cast<double>(process_cpu_ns() - cpu_ns_);
  cost.wall_s = 1e-9 * static_cast<double>(now_ns() - wall_ns_);
  const Machine machine = look_at_machine();
  if (cost.wall_s <= 0) return cost;
  cost.foreign_cores = std::max(0.0, (machine.busy_s - machine_s_ - cost.cpu_s) / cost.wall_s);
  cost.stolen_cores = (machine.stolen_s - stolen_s_) / cost.wall_s;
  return cost;
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const bool odd = values.size() % 2 == 1;
  return {odd ? values[middle] : (values[middle - 1] + values[middle]) / 2, values.front(), values.back()};
}

void keep_cheaper(Cost& best, const Cost& other) {
  if (best.wall_s == 0 || other.cpu_s < best.cpu_s) best = other;
}

}  // namespace penstock::bench
