// A run that waits, is left, or goes on from where another one stood.
#include <algorithm>
#include <limits>
#include <memory>

#include "lib/graph/node.h"
#include "tests/conformance/check.h"

namespace conformance {
namespace {

constexpr std::int64_t kGated = 12;
constexpr std::int64_t kMostGiven = 3 * kGated;  // by cases that repeat

// What is due of a shuffle follows from what it says that it holds; of all others the model knows it.
std::size_t due_after(const Case& tested, const Experiment& experiment, std::int64_t given) {
  if (tested.ops.back().kind != Kind::shuffle || given >= kGated) return experiment.due_after(given);
  const auto* shuffle = experiment.node()->as<ps::StreamOp>();
  return static_cast<std::size_t>(std::max<std::int64_t>(0, given - shuffle->elements_held() + 1));
}

// Lets one element through, and asks for all that is due: again and again. The end may wait for what
// was under way when an op had enough, so it is asked for behind an open gate. The pumped driver
// throws where nothing can move any more.
void step_through(const Case& tested, Experiment& experiment, ps::detail::RunCore& run, Findings& findings) {
  const Texts expected = Experiment(tested, {.count = kGated}).expected();
  Texts got;
  for (std::int64_t given = 0; given <= kMostGiven; ++given) {
    experiment.gate().open_for(given);
    while (got.size() < due_after(tested, experiment, given)) got.push_back(experiment.next(run).value_or("the end"));
  }
  experiment.gate().open_for(std::numeric_limits<std::int64_t>::max());
  for (std::string& text : experiment.rest(run)) got.push_back(std::move(text));
  findings.compare("behind a gate", got, expected);
}

RunRef pumped_run(const Experiment& experiment, std::uint64_t seed, random_graphs::Coverage& coverage) {
  penstock::test::Random random(seed);
  return random_graphs::pumped_driver(experiment.pumped_courier())
      .start(experiment.node(), {.memory_bytes = 64 * ps::MiB}, random, coverage);
}

}  // namespace

// First without threads, where a wait in vain is seen and not waited for.
void check_gate(const Case& tested, Findings& findings) {
  for (std::uint64_t seed = 1; seed <= 4 * rounds(); ++seed) {
    Experiment experiment(tested, {.count = kGated, .gated = true, .pumped = true});
    random_graphs::Coverage coverage;
    const RunRef run = pumped_run(experiment, seed, coverage);
    step_through(tested, experiment, *run, findings);
  }
  if (!findings.empty()) return;
  for (const int threads : {1, 2}) {
    Experiment experiment(tested, {.count = kGated, .gated = true});
    const RunRef run = experiment.start({.threads = threads});
    step_through(tested, experiment, *run, findings);
  }
}

namespace {

// What keeps elements inside when the run is destroyed.
enum class Waiting : std::uint8_t { nothing, gate, answers };

bool answers_later(const Case& tested) {
  const Experiment experiment(tested, {});
  return std::ranges::any_of(ps::graph::uses(experiment.node()), [](const ps::graph::Use& use) {
    const auto* op = use.node->as<ps::ElementwiseOp>();
    return op != nullptr && op->form() == ps::Form::completes_later;
  });
}

// Destroys a run after `taken` deliveries. Answers that are held come when it is gone.
void leave(const Case& tested, std::size_t taken, Waiting waiting, const ps::RunOptions& options, Findings& findings) {
  Experiment experiment(tested, {.count = 40, .jitter = options.seed, .gated = waiting == Waiting::gate});
  if (waiting == Waiting::answers) experiment.courier().hold();
  RunRef run = experiment.start(options);
  run->knobs();  // it begins to read
  if (waiting == Waiting::answers) experiment.courier().wait_for_one();
  for (std::size_t i = 0; i < taken; ++i) experiment.next(*run);
  run.reset();
  if (waiting == Waiting::answers && experiment.courier().release() == 0) findings.add("no answer was late");
  findings.expect_equal("left after " + std::to_string(taken) + " deliveries: what is alive then",
                        experiment.alive_after_all(), 0);
}

}  // namespace

void check_cancellation(const Case& tested, Findings& findings) {
  const bool has_answers = answers_later(tested);
  for (std::uint64_t seed = 0; seed < rounds(); ++seed) {
    const ps::RunOptions options{.threads = seed % 2 == 0 ? 2 : 1, .seed = seed};
    for (std::size_t taken = 0; taken < 9; ++taken) leave(tested, taken, Waiting::nothing, options, findings);
    if (tested.traits.place == Place::stream) leave(tested, 0, Waiting::gate, options, findings);
    if (has_answers) leave(tested, 0, Waiting::answers, options, findings);
  }
}

namespace {

// Goes on from each position, serially and in parallel.
void resume_everywhere(const Case& tested, const std::string& what, const Settings& settings, Findings& findings) {
  const Experiment experiment(tested, settings);
  const Texts expected = experiment.expected(0, false);
  const RunRef run = experiment.start({.threads = 2});
  for (std::size_t place = 0; place <= expected.size(); ++place) {
    const auto saved = std::make_shared<const ps::Checkpoint>(run->checkpoint());
    const Texts rest(expected.begin() + static_cast<std::ptrdiff_t>(place), expected.end());
    for (const bool serial : {true, false}) {
      const RunRef again = experiment.start({.threads = 2, .serial = serial, .resume_from = saved});
      findings.compare(what + ", resumed after " + std::to_string(place) + " deliveries",
                       experiment.rest(*again, false), rest);
    }
    experiment.next(*run);
  }
}

}  // namespace

void check_checkpoints(const Case& tested, Findings& findings) {
  const model::Modulus one{1'000'003, 4};
  resume_everywhere(tested, "one pass", {}, findings);
  resume_everywhere(tested, "two passes", {.count = 6, .passes = 2}, findings);
  if (tested.traits.place != Place::source)
    resume_everywhere(tested, "an error before it", {.source_fails = one}, findings);
  if (tested.traits.calls_function)
    resume_everywhere(tested, "its function fails once", {.function_fails = one}, findings);
}

}  // namespace conformance
