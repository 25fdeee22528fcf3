// Whatever the threads, the schedule, the knobs and the memory are, an op gives what the model says.
#include <algorithm>
#include <array>
#include <optional>

#include "lib/graph/node.h"
#include "tests/conformance/check.h"
#include "tests/support/random_graphs/knob_mover.h"

namespace conformance {
namespace {

const std::array kThreads{1, 2, 8};
constexpr std::int64_t kElements = 200;  // under a budget

// One epoch by a run with these options.
void compare_run(const Case& tested, const std::string& when, const Settings& settings, const ps::RunOptions& options,
                 Findings& findings) {
  const Experiment experiment(tested, settings);
  const RunRef run = experiment.start(options);
  findings.compare(when, experiment.rest(*run), experiment.expected(), tested.is_arbitrary());
}

std::string on_threads(int threads) { return "on " + std::to_string(threads) + " threads"; }

}  // namespace

void check_serial(const Case& tested, Findings& findings) {
  for (const std::int64_t count : {9, 24})
    compare_run(tested, std::to_string(count) + " elements, serially", {.count = count}, {.serial = true}, findings);
}

void check_threads(const Case& tested, Findings& findings) {
  for (const int threads : kThreads)
    for (const std::int64_t count : {24, 200})
      compare_run(tested, std::to_string(count) + " elements " + on_threads(threads), {.count = count},
                  {.threads = threads}, findings);
}

void check_jitter(const Case& tested, Findings& findings) {
  for (std::uint64_t seed = 1; seed <= 3 * rounds(); ++seed)
    for (const int threads : kThreads)
      compare_run(tested, "jitter " + std::to_string(seed) + " " + on_threads(threads), {.count = 40, .jitter = seed},
                  {.threads = threads}, findings);
}

void check_move_only(const Case& tested, Findings& findings) {
  compare_run(tested, "serially", {.move_only = true}, {.serial = true}, findings);
  compare_run(tested, on_threads(2), {.count = 24, .move_only = true}, {.threads = 2}, findings);
}

void check_few_elements(const Case& tested, Findings& findings) {
  for (std::int64_t count = tested.traits.least_count; count <= 1; ++count) {
    for (const std::int64_t passes : {1, 2}) {
      const Settings settings{.count = count, .passes = passes};
      const std::string when = std::to_string(count) + " elements, " + std::to_string(passes) + " passes";
      compare_run(tested, when + ", serially", settings, {.serial = true}, findings);
      compare_run(tested, when + ", " + on_threads(2), settings, {.threads = 2}, findings);
    }
  }
}

void check_end_twice(const Case& tested, Findings& findings) {
  for (const bool serial : {true, false}) {
    const Experiment experiment(tested, {});
    const RunRef run = experiment.start({.threads = 2, .serial = serial});
    for (const std::uint32_t epoch : {0u, 1u}) {
      run->begin_epoch(epoch);
      experiment.rest(*run);
      for (const char* when : {"behind the end", "behind the end seen twice"})
        if (const auto more = experiment.next(*run)) findings.add(std::string(when) + " comes " + *more);
    }
  }
}

namespace {

bool can_move(const ps::Knob& knob) { return knob.low < knob.high; }

std::vector<std::int64_t> values_of(const std::vector<ps::Knob>& knobs) {
  std::vector<std::int64_t> values;
  for (const ps::Knob& knob : knobs) values.push_back(knob.get());
  return values;
}

// Reads to the end and moves a knob before each delivery. `moved`: some knob had another value
// afterwards.
Texts rest_between_moves(const Experiment& experiment, ps::detail::RunCore& run, std::uint64_t seed, bool& moved) {
  penstock::test::Random random(seed);
  random_graphs::Coverage::Moves moves;
  std::vector<ps::Knob> knobs = run.knobs();
  Texts texts;
  for (std::optional<std::string> text = "";; texts.push_back(*text)) {
    const std::vector<std::int64_t> before = values_of(knobs);
    if (!knobs.empty()) random_graphs::move_one(knobs, random, moves);
    moved = moved || values_of(knobs) != before;
    text = experiment.next(run);
    if (!text) return texts;
  }
}

}  // namespace

// By the consumer, so that some are moved for certain, and by another thread in the midst of calls.
void check_knobs(const Case& tested, Findings& findings) {
  bool can = false, moved = false;
  for (std::uint64_t seed = 1; seed <= 3 * rounds(); ++seed) {
    const Experiment experiment(tested, {.count = 120, .jitter = seed});
    const RunRef run = experiment.start({.threads = 4, .tune = false});
    can = can || std::ranges::any_of(run->knobs(), can_move);
    random_graphs::Coverage coverage;
    const random_graphs::KnobMover mover(run, seed, coverage);
    findings.compare("knobs moved by seed " + std::to_string(seed), rest_between_moves(experiment, *run, seed, moved),
                     experiment.expected(), tested.is_arbitrary());
  }
  if (can && !moved) findings.add("no knob could be moved");
}

namespace {

using Chain = std::vector<ps::graph::Use>;

std::int64_t bytes_of_element(const Case& tested, const Chain& chain, std::size_t op) {
  const bool is_large = chain.size() - op <= tested.traits.large_ops;
  return static_cast<std::int64_t>((is_large ? tested.traits.element_bytes : kTokenBytes) + sizeof(ps::Slot));
}

// That the ops say they must hold. Over positions nothing is held.
std::int64_t bytes_held(const Case& tested, const Chain& chain) {
  if (tested.traits.place == Place::positions) return 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const auto* op = chain[i].node->as<ps::StreamOp>();
    const std::int64_t elements = op != nullptr ? std::min(op->elements_held(), kElements) : 1;
    bytes += elements * bytes_of_element(tested, chain, i);
  }
  return bytes;
}

// What the ops must hold, or the budget, and one element per stage; what a call gives beyond that
// (its results cannot be foretold) is counted.
void check_peak(const Case& tested, const std::string& when, const Experiment& experiment, const ps::RunStats& stats,
                Findings& findings) {
  const Chain chain = ps::graph::uses(experiment.node());
  std::int64_t most =
      std::max(static_cast<std::int64_t>(tested.traits.element_bytes + sizeof(ps::Slot)), bytes_held(tested, chain));
  for (std::size_t i = 0; i < chain.size(); ++i) most += bytes_of_element(tested, chain, i);
  if (stats.memory_peak > most + stats.overshoot_bytes)
    findings.add(when + ": memory_peak is " + std::to_string(stats.memory_peak) + ", must be at most " +
                 std::to_string(most) + " and the " + std::to_string(stats.overshoot_bytes) + " bytes of overshoot");
}

}  // namespace

// Without a budget most of these runs hold some 20,000 bytes.
void check_budget(const Case& tested, Findings& findings) {
  for (const int threads : kThreads) {
    const std::string when = "memory for one element " + on_threads(threads);
    const Experiment experiment(tested, {.count = kElements});
    const RunRef run = experiment.start({.threads = threads, .memory_bytes = tested.traits.element_bytes});
    findings.compare(when, experiment.rest(*run), experiment.expected(), tested.is_arbitrary());
    check_peak(tested, when, experiment, run->stats(), findings);
  }
}

// An op's state is clean at each pass, of a repeat behind it and of the next epoch.
void check_passes(const Case& tested, Findings& findings) {
  for (const bool announced : {true, false}) {
    const Experiment experiment(tested, {.passes = 3});
    const RunRef run = experiment.start({.threads = 2, .epochs = announced ? 3u : 0u});
    for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
      run->begin_epoch(epoch);
      findings.compare("three passes, epoch " + std::to_string(epoch), experiment.rest(*run, false),
                       experiment.expected(epoch, false), tested.is_arbitrary());
    }
  }
}

}  // namespace conformance
