// An error stays in its place: no neighbour is lost or moved, and everything is counted.
#include <algorithm>

#include "tests/conformance/check.h"

namespace conformance {
namespace {

std::int64_t errors_in(const Texts& texts) {
  return std::ranges::count_if(texts, [](const std::string& text) { return text.starts_with("error"); });
}

// Which of several errors a shuffle has moved where, the model cannot tell; and a take behind an
// endless repeat waits for ever for an element that did not fail.
bool bears_many_errors(const Case& tested) {
  return tested.traits.place != Place::source && std::ranges::none_of(tested.ops, [&](const Op& op) {
           const bool shuffles = op.kind == Kind::shuffle && tested.traits.place == Place::stream;
           return shuffles || (op.kind == Kind::repeat && op.count < 0);
         });
}

void compare_counts(const std::string& when, const Texts& texts, const ps::RunStats& stats, Findings& findings) {
  const std::int64_t errors = errors_in(texts);
  findings.expect_equal(when + ": RunStats::errors", stats.errors, errors);
  findings.expect_equal(when + ": RunStats::delivered", stats.delivered,
                        static_cast<std::int64_t>(texts.size()) - errors);
}

// Behind a repeat the numbers of inputs count one pass; the model's count them all.
bool has_inputs(const Case& tested) {
  const bool repeats = std::ranges::any_of(tested.ops, [](const Op& op) { return op.kind == Kind::repeat; });
  return !repeats && !tested.is_arbitrary();
}

void compare_failing(const Case& tested, const std::string& when, const Settings& settings, Findings& findings) {
  const bool with_inputs = has_inputs(tested);
  for (const bool serial : {true, false}) {
    const std::string how = when + (serial ? ", serially" : ", on 2 threads");
    const Experiment experiment(tested, settings);
    const RunRef run = experiment.start({.threads = 2, .serial = serial});
    const Texts got = experiment.rest(*run, with_inputs);
    findings.compare(how, got, experiment.expected(0, with_inputs), tested.is_arbitrary());
    compare_counts(how, got, run->stats(), findings);
    if (tested.traits.drops_errors)
      findings.expect_equal(how + ": RunStats::dropped", run->stats().dropped,
                            settings.count - static_cast<std::int64_t>(got.size()));
  }
}

// Only one fails.
model::Modulus at(std::int64_t position) { return {1'000'003, position}; }

}  // namespace

void check_errors(const Case& tested, Findings& findings) {
  for (std::int64_t position = 0; position < Settings{}.count; ++position) {
    const std::string where = " at " + std::to_string(position);
    if (tested.traits.place != Place::source)
      compare_failing(tested, "an error before it" + where, {.source_fails = at(position)}, findings);
    if (tested.traits.calls_function)
      compare_failing(tested, "its function fails" + where, {.function_fails = at(position)}, findings);
  }
  if (!bears_many_errors(tested)) return;
  compare_failing(tested, "every third fails", {.source_fails = {3, 1}}, findings);
  compare_failing(tested, "all fail", {.source_fails = {1, 0}}, findings);
}

}  // namespace conformance
