// Oracle: the best that fixed knobs reach in a world that does not change, found by search. Its rate and its CPU time
// are measured anew, with seeds that have not chosen it.
//
// That takes an hour of CPU for all scenarios, so the answers are kept in oracle_table.inc, under a hash of the world's
// constants: `penstock-scorecard --make-oracle tests/exam/oracle_table.inc` makes it anew. A world that is not in it is
// searched on the fly.
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

// Fixed settings in a world that does not change: means over that many seeds, from one on that is none of the exam's.
// Of one that after half of the time is far below `hopeful` elements/s, no more is looked at.
inline constexpr std::uint64_t kSearchSeed = 1'000'001, kFreshSeed = 2'000'001;
Optimum measure(const ProcessSpec& process, const Settings& settings, Time duration, int seeds,
                std::uint64_t first_seed = kSearchSeed, double hopeful = 0);

// One knob at a time, as long as the rate stays as good.
Optimum with_fewer_bytes(const ProcessSpec& frozen, Optimum best);

// One knob at a time until none helps, from several places: by Little's law and, where that ends more than 3 % below
// what the constants allow, where the controller ends, and anywhere. Then with_fewer_bytes(). Half a minute.
Optimum search(const ProcessSpec& frozen);
// The same, whatever it holds.
Optimum search_rate(const ProcessSpec& frozen);
// Every combination of parallelism, window, prefetch, placement and grain, then priority, CPU permits and buffers
// around the best ones, then with_fewer_bytes(). Minutes, and of three stages hours; for chains alone.
Optimum search_all(const ProcessSpec& frozen);

// From the table, or searched.
Optimum optimum_of(const ProcessSpec& frozen);
bool is_in_table(const ProcessSpec& frozen);

std::uint64_t hash_of(const ProcessSpec& process);  // of all constants
std::string table_row(const ProcessSpec& frozen, const Optimum& optimum, const std::string& comment);

}  // namespace penstock::exam
