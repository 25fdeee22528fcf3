#include "lib/runtime/stuck_calls.h"

#include <chrono>

#include "lib/base/text.h"

namespace penstock::runtime {
namespace {

std::string place_text(const exec::StagePlan& plan) {
  return plan.label.name + " (op " + std::to_string(plan.label.position) +
         (plan.label.call_site.empty() ? "" : ", " + plan.label.call_site) + ")";
}

}  // namespace

std::string oldest_element(const StageSnapshot& stage, const exec::Plan& plan) {
  const exec::SourceItem item =
      plan.item(static_cast<std::size_t>(stage.oldest_call_source), stage.oldest_call_ordinal);
  return "element " + std::to_string(stage.oldest_call_ordinal) + " of " +
         (item.position < 0 ? "the source" : "op " + std::to_string(item.position)) +
         (item.name.empty() ? "" : " (" + in_quotes(item.name) + ")");
}

std::vector<std::string> stuck_calls(const Snapshot& snapshot, const exec::Plan& plan) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < snapshot.stages.size(); ++i) {
    const StageSnapshot& stage = snapshot.stages[i];
    if (stage.oldest_call_ns <= 0) continue;
    lines.push_back("a run that was given up waits for " + place_text(plan.stages[i]) + ", called " +
                    format_duration(std::chrono::nanoseconds(stage.oldest_call_ns)) + " ago" +
                    (stage.oldest_call_ordinal < 0 ? "" : ", for " + oldest_element(stage, plan)) +
                    ". A function that may take long should look at Context::stop_token() and return");
  }
  return lines;
}

}  // namespace penstock::runtime
