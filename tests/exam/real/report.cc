#include "tests/exam/real/report.h"

#include "tests/exam/summary_json.h"
#include "lib/core/print.h"

namespace penstock::exam {
namespace {

using Json = nlohmann::ordered_json;

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : "; ") + part;
  return all;
}

// Of too few rounds.
void hide_figures(Json& line) {
  for (const char* name : {"x_ratio", "x_ratio_min", "yield", "t90_s", "recovery_s", "peak_bytes_ratio", "cpu_ratio",
                           "in_flight_max", "changes_per_min", "step_p95_ratio"}) {
    line[name] = nullptr;
  }
}

std::string verdict(const RoundRow& row, bool is_judged) {
  if (!row.discarded.empty()) return "discarded: " + row.discarded;
  if (!row.grade.broken.empty()) return "GATE: " + joined(row.grade.broken);
  if (!is_judged) return "not judged: too short";
  return row.grade.missed.empty() ? "met" : "missed: " + joined(row.grade.missed);
}

}  // namespace

std::string text_of(const RoundRow& row, bool is_judged) {
  const Grade& grade = row.grade;
  return print(
      "%-5s %-9s round %2d %8.1f/s of %8.1f/s  X %5.1f %%  yield %5.1f %%  t90 %4.2f s  recovery %4.2f s  bytes %4.2f  "
      "CPU %5.3f  flight %3.0f  step %4.2f  %s",
      row.scenario.c_str(), row.policy.c_str(), row.round, row.rate, row.oracle_rate, 100 * grade.x, 100 * grade.yield,
      grade.t90_s, grade.recover_s, grade.bytes, grade.cpu, grade.in_flight_max, grade.step_p95,
      verdict(row, is_judged).c_str());
}

std::string json_of(const RoundRow& row, bool is_judged) {
  const Grade& grade = row.grade;
  Json line = {{"scenario", row.scenario},   {"policy", row.policy},          {"mode", "real"},
               {"round", row.round},         {"discarded", row.discarded},    {"rate", row.rate},
               {"mean_rate", row.mean_rate}, {"oracle_rate", row.oracle_rate}};
  line.update(figures_of(grade));
  line.update({{"step_p95_ratio", json_of(grade.step_p95)},
               {"missed", is_judged ? joined(grade.missed) : ""},
               {"gates_broken", joined(grade.broken)}});
  if (is_judged && row.discarded.empty()) line["round_met"] = grade.missed.empty() && grade.broken.empty();
  return line.dump();
}

std::string text_of(const RealSummary& result) {
  const Summary& summary = result.summary;
  if (!result.is_shown) {
    return print("%-5s %-9s NOT SHOWN: %d of %d rounds were discarded", summary.scenario.c_str(),
                 summary.policy.c_str(), result.discarded, result.discarded + summary.seeds);
  }
  return print("%-5s %-9s %s: %d of %d rounds meet the bars, %d discarded; X %.1f %% (median), %.1f %% (least) %s",
               summary.scenario.c_str(), summary.policy.c_str(), summary.bar_met ? "MET" : "MISSED", summary.seeds_met,
               summary.seeds, result.discarded, 100 * summary.grade.x, 100 * result.least_x,
               summary.first_miss.c_str());
}

std::string json_of(const RealSummary& result) {
  const Json as_virtual = json_of(result.summary, "real");
  Json line = Json::object();
  for (const auto& [name, value] : as_virtual.items()) {
    if (name == "explained") continue;
    line[name == "seeds" ? "rounds" : name == "seeds_met" ? "rounds_met" : name] = value;
  }
  line["rounds_discarded"] = result.discarded;
  line["x_ratio_min"] = json_of(result.least_x);
  line["shown"] = result.is_shown;
  if (!result.is_shown) hide_figures(line);
  return line.dump();
}

}  // namespace penstock::exam
