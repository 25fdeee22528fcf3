#include "tests/support/random_graphs/trial.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "lib/runtime/start_run.h"
#include "tests/ops/all_cases.h"
#include "tests/support/random_graphs/comparison.h"
#include "tests/support/random_graphs/reading.h"
#include "tests/support/save_spacing.h"

namespace random_graphs {
namespace {

// A place in [0, size], its ends more often than the rest.
std::size_t draw_place(std::size_t size, Random& random) {
  if (random.one_in(8)) return 0;
  if (random.one_in(8)) return size;
  return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(size) + 1));
}

std::int64_t failures_in(const Items& items) { return std::ranges::count_if(items, &model::Item::failed); }

// Elements that the source gives, where each of them becomes one at the end of the pipeline, or an error.
std::optional<std::int64_t> elements_seen(const Graph& graph) {
  std::int64_t seen = graph.ops[0].count;
  if (graph.ops[0].fails_passes.mod > 0) return std::nullopt;
  for (const model::Op& op : graph.ops) {
    const bool keeps_all = op_cases::is_source(op.kind) || op.kind == model::Kind::shuffle ||
                           op.kind == model::Kind::map || op.kind == model::Kind::prefetch ||
                           op.kind == model::Kind::ignore_errors;
    if (op.kind == model::Kind::repeat && op.count > 0)
      seen *= op.count;
    else if (!keeps_all)
      return std::nullopt;
  }
  return seen;
}

// Where save points stand changes nothing.
std::shared_ptr<ps::detail::RunCore> start_run(const ps::graph::NodeRef& node, const ps::RunOptions& options,
                                               Random& random) {
  return ps::runtime::start_run(node, options, penstock::autotune::default_policy,
                                penstock::test::drawn_save_spacing(random));
}

}  // namespace

Driver serial_driver() {
  return {"serial",
          [](const ps::graph::NodeRef& node, ps::RunOptions options, Random& random, Coverage&) {
            options.serial = true;
            return start_run(node, options, random);
          },
          false};
}

Driver engine_driver() {
  return {"engine",
          [](const ps::graph::NodeRef& node, const ps::RunOptions& options, Random& random, Coverage&) {
            return start_run(node, options, random);
          },
          true};
}

const Items& Trial::expected(std::uint32_t epoch) {
  const auto [place, is_new] = expected_.try_emplace(epoch);
  if (!is_new) return place->second;
  std::vector<model::Tape> tapes;
  const Built recording = build_graph(graph_, bench_, &tapes);
  Random random(0);
  Coverage none;
  const Deliveries recorded = Reading(serial_driver(), recording, {.first_epoch = epoch}, random, none).read_all();
  model::Pipeline pipeline(graph_.ops, std::move(tapes));
  pipeline.begin_epoch(epoch);
  while (auto item = pipeline.next()) place->second.push_back(std::move(*item));
  dropped_[epoch] = pipeline.dropped();
  Comparison{.graph = graph_, .bench = bench_, .with_positions = false, .with_inputs = false}.check(place->second,
                                                                                                    recorded, 0, true);
  return place->second;
}

void Trial::check_whole(const Driver& driver, Random& random, Coverage& coverage) {
  ps::RunOptions options = draw_options(random);
  const auto epochs = static_cast<std::uint32_t>(random.between(1, 3));
  options.epochs = random.one_in(2) ? epochs : 0;
  options.first_epoch = static_cast<std::uint32_t>(random.below(2));
  Reading reading(driver, built_, options, random, coverage);
  for (std::uint32_t i = 0; i < epochs; ++i) {
    const std::uint32_t epoch = options.first_epoch + i;
    const Items& items = expected(epoch);
    if (i > 0 || random.one_in(2)) reading.begin_epoch(epoch);
    if (random.one_in(4)) {  // and anew, behind a part of it
      Comparison{graph_, bench_}.check(items, reading.read(draw_place(items.size(), random)), 0, false);
      reading.begin_epoch(epoch);
    }
    const bool to_the_end = i + 1 == epochs || random.one_in(2);
    const Deliveries got = to_the_end ? reading.read_all() : reading.read(draw_place(items.size(), random));
    Comparison{graph_, bench_}.check(items, got, 0, to_the_end);
    if (to_the_end && !reading.read(1).empty()) throw Failure("something came behind the end");
  }
}

void Trial::check_skipped(const Driver& driver, Random& random, Coverage& coverage) {
  const Items& all = expected(0);
  // Which errors are the first few, nobody can say where the order is free.
  const std::int64_t skipped = graph_.arbitrary ? -1 : random.between(-1, 4);
  ps::RunOptions options = draw_options(random);
  options.on_error.skip_at_most = skipped;
  Reading reading(driver, built_, options, random, coverage);
  const Deliveries got = reading.read_all();
  Items items;
  std::int64_t left = skipped < 0 ? failures_in(all) : skipped;
  std::ranges::copy_if(all, std::back_inserter(items),
                       [&](const model::Item& item) { return !item.failed() || left-- <= 0; });
  Comparison{graph_, bench_}.check(items, got, 0, true);
  check_counts(reading.run().stats(), 0, coverage);
}

void Trial::check_counts(const ps::RunStats& stats, std::uint32_t epoch, Coverage& coverage) {
  const Items& items = expected(epoch);
  const std::int64_t failures = failures_in(items), dropped = dropped_.at(epoch);
  coverage.dropped += stats.dropped;
  if (stats.errors != failures || stats.delivered != static_cast<std::int64_t>(items.size()) - failures)
    throw Failure("RunStats tells other numbers of elements and errors");
  // What was read ahead behind the end of a pass is dropped as well.
  if (stats.dropped < dropped || (stats.dropped > dropped && !graph_.cuts_passes()))
    throw Failure("RunStats tells of " + std::to_string(stats.dropped) + " dropped errors, the model of " +
                  std::to_string(dropped));
  const auto seen = elements_seen(graph_);
  if (seen && stats.delivered + stats.errors + stats.dropped != *seen)
    throw Failure(std::to_string(*seen) + " elements seen are not " + std::to_string(stats.delivered) +
                  " delivered + " + std::to_string(stats.errors) + " errors + " + std::to_string(stats.dropped) +
                  " dropped");
}

void Trial::check_abandoned(const Driver& driver, Random& random, Coverage& coverage) {
  const Items& items = expected(0);
  Reading reading(driver, built_, draw_options(random), random, coverage);
  const Deliveries got = reading.read(draw_place(items.size(), random));
  coverage.late += reading.abandon(*bench_.courier);
  Comparison{graph_, bench_}.check(items, got, 0, false);
}

void Trial::check_resumed(const Driver& driver, Random& random, Coverage& coverage) {
  const Driver serial = serial_driver();
  const auto epoch = static_cast<std::uint32_t>(random.below(2));
  const Items& items = expected(epoch);
  ps::RunOptions options = draw_options(random);
  options.first_epoch = epoch;
  auto reading = std::make_unique<Reading>(random.one_in(4) ? serial : driver, built_, options, random, coverage);
  std::size_t place = 0;
  do {
    options = draw_options(random);
    options.resume_from = read_some(*reading, items, place, random);
    reading.reset();
    reading = std::make_unique<Reading>(random.one_in(4) ? serial : driver, built_, options, random, coverage);
    ++coverage.resumptions;
  } while (random.one_in(3));
  const Comparison comparison{.graph = graph_, .bench = bench_, .with_inputs = false};
  comparison.check(items, reading->read_all(), place, true);
  if (random.one_in(2)) return;
  reading->begin_epoch(epoch + 1);
  Comparison{graph_, bench_}.check(expected(epoch + 1), reading->read_all(), 0, true);
}

std::shared_ptr<const ps::Checkpoint> Trial::read_some(Reading& reading, const Items& items, std::size_t& place,
                                                       Random& random) {
  const bool to_the_end = graph_.arbitrary || random.one_in(8);
  const std::size_t more =
      to_the_end ? std::numeric_limits<std::size_t>::max() : draw_place(items.size() - place, random);
  const Comparison comparison{.graph = graph_, .bench = bench_, .with_inputs = place == 0};
  const Deliveries got = reading.read(more);
  comparison.check(items, got, place, to_the_end);
  place += got.size();
  const ps::Checkpoint checkpoint = reading.run().checkpoint();
  if (checkpoint.delivered != static_cast<std::int64_t>(place))
    throw Failure("the checkpoint stands behind " + std::to_string(checkpoint.delivered) + " deliveries, not " +
                  std::to_string(place));
  return std::make_shared<const ps::Checkpoint>(random.one_in(2) ? checkpoint
                                                                 : ps::Checkpoint::from_bytes(checkpoint.to_bytes()));
}

}  // namespace random_graphs
