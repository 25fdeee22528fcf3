// Random trees of datasets: what plain lists say, serially, on threads, and pumped by one thread in any order of
// events, with and without memory, while knobs are moved, in several epochs, some of them left early.
//
//   PENSTOCK_FULL=1 random_trees_test          200,000 trees instead of 20,000 pumped, 10,000 on threads
//   PENSTOCK_SEED=17 random_trees_test         this tree alone
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "lib/exec/queue_launcher.h"
#include "tests/random/tree_series.h"
#include "tests/support/pumped.h"
#include "tests/support/random_graphs/knob_mover.h"

namespace trees {
namespace {

namespace exec = penstock::exec;

constexpr std::uint32_t kEpochs = 3;
constexpr int kMostSteps = 100'000;

// How much of each epoch is read, "all" as more than there is.
std::vector<std::size_t> drawn_ends(const Tree& tree, Random& random) {
  std::vector<std::size_t> ends;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch)
    ends.push_back(random.one_in(2) ? tree.items.size() + 1 : random.next() % (tree.items.size() + 1));
  return ends;
}

void check_run(const Tree& tree, const ps::RunOptions& options, Random& random,
               random_graphs::Coverage* moves = nullptr) {
  const auto core = ps::detail::start_run(tree.dataset.node(), options);
  ps::Run<std::int64_t> run(core);
  std::optional<random_graphs::KnobMover> mover;
  if (moves != nullptr) mover.emplace(core, random.next(), *moves);
  const auto ends = drawn_ends(tree, random);
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    run.epoch(epoch);
    for (std::size_t i = 0; i < ends[epoch]; ++i) expect(tree, i, next_of(run), "epoch " + std::to_string(epoch));
  }
}

// One thread runs tokens in any order. It sees where nothing can move though the consumer waits.
class Pumped {
 public:
  Pumped(const Tree& tree, std::uint64_t seed, bool has_little_memory, random_graphs::Coverage& moved)
      : random_(seed), moved_(moved) {
    exec::EngineSettings settings;
    settings.memory_bytes = has_little_memory ? random_.between(1, 12) * 96 : 1 << 24;
    settings.machine = &machine_;
    settings.permits = 1 + random_.below(3);
    auto launcher = std::make_unique<exec::QueueLauncher>([this](const std::vector<std::size_t>& stages) {
      return static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(stages.size())));
    });
    queue_ = launcher.get();
    engine_ = exec::Engine::make(exec::compile(tree.dataset.node()), settings, std::move(launcher));
  }

  ~Pumped() { moved_.add_moves(moves_); }

  void check(const Tree& tree) {
    const auto ends = drawn_ends(tree, random_);
    for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
      if (epoch > 0) go_to(epoch);
      is_over_ = false;
      for (std::size_t i = 0; i < ends[epoch]; ++i) expect(tree, i, next(), "epoch " + std::to_string(epoch));
    }
  }

 private:
  void go_to(std::uint32_t epoch) {
    if (!is_over_) engine_->abandon_epoch();
    engine_->begin_epoch(epoch, 1);
  }

  std::string next() {
    for (;;) {
      ps::Slot slot = next_slot();
      if (slot.is_element()) return std::to_string(slot.value.unchecked<std::int64_t>());
      if (slot.kind() == ps::Slot::Kind::error) return "x";
      if (slot.level() == engine_->plan().repeats().size()) {
        is_over_ = true;
        return "end";
      }
    }
  }

  // Sometimes runs ahead of the consumer, too.
  ps::Slot next_slot() {
    if (random_.one_in(30)) {
      std::vector<ps::Knob> knobs = engine_->knobs();
      random_graphs::move_one(knobs, random_, moves_);
    }
    for (std::int64_t extra = random_.one_in(3) ? random_.below(20) : 0; extra > 0; --extra) queue_->run_one();
    for (int steps = 0; !engine_->state().outlet.has_slots(); ++steps) {
      if (!queue_->run_one()) throw std::runtime_error("stands still: the consumer waits, and nothing can move");
      if (steps == kMostSteps) throw std::runtime_error("goes in circles");
    }
    ps::Slot slot;
    engine_->next(slot);
    return slot;
  }

  Random random_;
  random_graphs::Coverage& moved_;
  random_graphs::Coverage::Moves moves_;
  std::int64_t time_ns_ = 0;
  const std::int64_t pace_ns_ = random_.one_in(2) ? 500 : 50'000;
  const ps::testing::ClockedMachine machine_{[this] { return time_ns_ += random_.below(pace_ns_); }};
  exec::QueueLauncher* queue_ = nullptr;  // the engine's
  std::shared_ptr<exec::Engine> engine_;
  bool is_over_ = false;
};

TEST(RandomTrees, GiveSeriallyAndOnThreadsWhatPlainListsSay) {
  Drawer::Coverage coverage;
  random_graphs::Coverage moved;
  check_trees(
      how_many(1000),
      [&moved](const Tree& tree, std::uint64_t seed) {
        Random random(seed ^ 0x7EE5);
        check_run(tree, {.serial = true}, random);
        check_run(tree, {.threads = 2, .tune = false}, random);
        check_run(tree, {.memory_bytes = static_cast<std::size_t>(random.between(100, 2000)), .tune = random.one_in(2)},
                  random, &moved);
      },
      coverage);
  EXPECT_GE(moved.moves(), how_many(1000));
}

const std::vector<std::string> kOps{"map",       "fail",  "filter", "take",        "skip",   "repeat",
                                    "repeat(n)", "batch", "zip",    "concatenate", "sample", "choose"};
const std::vector<std::string> kBefore{"range",  "prefetch", "map", "fail",        "filter", "take",  "skip",
                                       "repeat", "batch",    "zip", "concatenate", "sample", "choose"};

// Each op, behind each other one, and merges of merges of merges.
void expect_all_were_drawn(Drawer::Coverage& coverage) {
  for (const std::string& op : kOps) {
    EXPECT_GE(coverage[op], how_many_pumped(5'000)) << op;
    for (const std::string& before : kBefore)
      EXPECT_GE(coverage[before + ">" + op], how_many_pumped(200)) << op << " behind " << before;
  }
  EXPECT_GE(coverage["depth 3"], how_many_pumped(10'000));
}

TEST(RandomTrees, GiveInAnyOrderOfEventsWhatPlainListsSay) {
  if (UNDER_THREAD_SANITIZER) GTEST_SKIP() << "there is one thread: nothing that ThreadSanitizer could see";
  Drawer::Coverage coverage;
  random_graphs::Coverage moved;
  check_trees(
      how_many_pumped(20'000),
      [&moved](const Tree& tree, std::uint64_t seed) { Pumped(tree, seed ^ 0x9A5, seed % 2 == 0, moved).check(tree); },
      coverage);
  if (number_from_environment("PENSTOCK_SEED")) return;
  EXPECT_GE(moved.moves(), how_many_pumped(5'000)) << "of knobs";
  if (UNDER_SANITIZER && is_smallest()) return;  // too few to say how often something is met
  expect_all_were_drawn(coverage);
  for (const auto& [what, count] : coverage) std::cout << what << ' ' << count << '\n';
}

}  // namespace
}  // namespace trees
