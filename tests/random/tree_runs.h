// How random trees are run: serially and on threads, and pumped by one thread in any order of events, with and without
// memory, while knobs are moved, in several epochs, some of them left early.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "lib/exec/queue_launcher.h"
#include "tests/random/tree_series.h"
#include "tests/support/pumped.h"
#include "tests/support/random_graphs/knob_mover.h"

namespace trees {

namespace exec = penstock::exec;

inline constexpr std::uint32_t kEpochs = 3;
inline constexpr int kMostSteps = 100'000;

// How much of each epoch is read, "all" as more than there is.
inline std::vector<std::size_t> drawn_ends(const Tree& tree, Random& random) {
  std::vector<std::size_t> ends;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch)
    ends.push_back(random.one_in(2) ? tree.items.size() + 1 : random.next() % (tree.items.size() + 1));
  return ends;
}

inline void check_run(const Tree& tree, const ps::RunOptions& options, Random& random,
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

// So many trees, every other one with next to no memory.
inline void check_pumped(std::int64_t count, Drawer::Coverage& coverage, random_graphs::Coverage& moved,
                         Drawn drawn = {}) {
  check_trees(
      count,
      [&moved](const Tree& tree, std::uint64_t seed) { Pumped(tree, seed ^ 0x9A5, seed % 2 == 0, moved).check(tree); },
      coverage, drawn);
}

}  // namespace trees
