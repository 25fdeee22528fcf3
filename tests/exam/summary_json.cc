#include "tests/exam/summary_json.h"

#include <cmath>

namespace penstock::exam {

nlohmann::ordered_json json_of(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json figures_of(const Grade& grade) {
  return {{"x_ratio", json_of(grade.x)},
          {"yield", json_of(grade.yield)},
          {"t90_s", json_of(grade.t90_s)},
          {"recovery_s", json_of(grade.recover_s)},
          {"peak_bytes_ratio", json_of(grade.bytes)},
          {"cpu_ratio", json_of(grade.cpu)},
          {"in_flight_max", grade.in_flight_max}};
}

nlohmann::ordered_json json_of(const Summary& summary, const std::string& mode) {
  const Grade& grade = summary.grade;
  nlohmann::ordered_json line = {{"scenario", summary.scenario}, {"policy", summary.policy}, {"mode", mode}};
  line.update(figures_of(grade));
  line.update({{"changes_per_min", json_of(grade.changes_per_min)},
               {"step_p95_ratio", json_of(grade.step_p95)},
               {"explained", json_of(grade.explained)},
               {"seeds", summary.seeds},
               {"seeds_met", summary.seeds_met},
               {"missed", summary.first_miss},
               {"bar_met", summary.bar_met},
               {"gates_met", summary.gates_met}});
  return line;
}

}  // namespace penstock::exam
