// Oracle: the best that fixed knobs reach in a world that does not change, found by trying them all.
//
// That takes an hour of CPU, so the answers are kept in oracle_table.inc, under a hash of the world's constants:
// `penstock-scorecard --make-oracle tests/exam/oracle_table.inc` makes it anew. A world that is not in it is searched on the fly, by descending one
// knob at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/exam/spec.h"

namespace penstock::exam {

struct Setting {
  std::string knob;
  int stage = -1;
  std::int64_t value = 0;
  int chain = 0;
};
using Settings = std::vector<Setting>;

struct Optimum {
  double rate = 0;        // elements/s, of all runs by their weights
  double peak_bytes = 0;  // the least among the settings within 0.5 % of the best rate
  double cpu_s = 0;       // CPU seconds per element, likewise
  Settings settings;      // those with the least bytes
};

// Fixed settings in a world that does not change: means over the seeds.
Optimum measure(const PlantSpec& plant, const Settings& settings, Time duration, int seeds);

// One knob at a time, as long as the rate stays as good.
Optimum with_fewer_bytes(const PlantSpec& frozen, Optimum best);

// Every combination of parallelism, window, prefetch, placement and grain, then priority, CPU slots and buffers around the best ones, then
// with_fewer_bytes().
Optimum search_all(const PlantSpec& frozen);
// One knob at a time from the analytic bound, until none helps.
Optimum search_by_descent(const PlantSpec& frozen);

// From the table, or by descent.
Optimum optimum_of(const PlantSpec& frozen);
bool is_in_table(const PlantSpec& frozen);

std::uint64_t hash_of(const PlantSpec& plant);  // of all constants
std::string table_row(const PlantSpec& frozen, const Optimum& optimum, const std::string& comment);

}  // namespace penstock::exam
