#include "lib/runtime/stuck_calls.h"

#include <chrono>

#include "lib/base/text.h"

namespace penstock::runtime {
namespace {

std::string element_text(std::int64_t ordinal, const exec::StagePlan& plan) {
  if (ordinal < 0) return {};
  const std::string origin = plan.origin(ordinal);
  return ", for element " + std::to_string(ordinal) + " of the source" +
         (origin.empty() ? "" : " (" + in_quotes(origin) + ")");
}

std::string place_text(const exec::StagePlan& plan) {
  return plan.label.name + " (op " + std::to_string(plan.label.position) +
         (plan.label.call_site.empty() ? "" : ", " + plan.label.call_site) + ")";
}

}  // namespace

std::vector<std::string> stuck_calls(const Snapshot& snapshot, const exec::Plan& plan) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
    const StageSnapshot& stage = snapshot.stages[i];
    if (stage.oldest_call_ns <= 0) continue;
    lines.push_back("a run that was given up waits for " + place_text(plan.stages[i]) + ", called " +
                    format_duration(std::chrono::nanoseconds(stage.oldest_call_ns)) + " ago" +
                    element_text(stage.oldest_call_ordinal, plan.stages[i]) +
                    ". A function that may take long should look at Context::stop_token() and return");
  }
  return lines;
}

}  // namespace penstock::runtime
