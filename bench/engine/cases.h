// The cases of penstock-engine: what the engine costs on work that is known.
#pragma once

#include <span>
#include <string>

#include "bench/engine/report.h"

namespace penstock::bench {

struct CaseSettings {
  int rounds = 0;  // 0: the case's own number
  int rounds_or(int own) const { return rounds > 0 ? rounds : own; }
};

// A case prints its rows as it goes. It throws if the work itself failed (a wrong sum, a lost
// element); a bar that is missed is no failure.
struct Case {
  const char* name;
  const char* what;
  void (*run)(const CaseSettings&, Report&);
};

std::span<const Case> all_cases();

void run_slope(const CaseSettings& settings, Report& report);
void run_whole(const CaseSettings& settings, Report& report);
void run_fused(const CaseSettings& settings, Report& report);
void run_two_maps(const CaseSettings& settings, Report& report);
void run_sleep64(const CaseSettings& settings, Report& report);
void run_adapt(const CaseSettings& settings, Report& report);
void run_first(const CaseSettings& settings, Report& report);
void run_abandon(const CaseSettings& settings, Report& report);
void run_drop_idle(const CaseSettings& settings, Report& report);
void run_permutation(const CaseSettings& settings, Report& report);
void run_names(const CaseSettings& settings, Report& report);
void run_chain(const CaseSettings& settings, Report& report);
void run_controller(const CaseSettings& settings, Report& report);
void run_idle(const CaseSettings& settings, Report& report);
void run_pressure(const CaseSettings& settings, Report& report);
void run_cached(const CaseSettings& settings, Report& report);
void run_nests(const CaseSettings& settings, Report& report);
void run_merges(const CaseSettings& settings, Report& report);
void run_collecting(const CaseSettings& settings, Report& report);
void run_lines(const CaseSettings& settings, Report& report);
void run_resume(const CaseSettings& settings, Report& report);
void run_text(const CaseSettings& settings, Report& report);
void run_mixed(const CaseSettings& settings, Report& report);
void run_unequal(const CaseSettings& settings, Report& report);
void run_latency(const CaseSettings& settings, Report& report);
void run_outlier(const CaseSettings& settings, Report& report);
void run_instruments(const CaseSettings& settings, Report& report);
void run_stage(const CaseSettings& settings, Report& report);

}  // namespace penstock::bench
