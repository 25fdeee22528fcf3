// What a series of random graphs has met, so that a generator that draws less than it should is noticed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/random_graphs/graph_generator.h"

namespace random_graphs {

class Coverage {
 public:
  using Moves = std::map<std::string, std::int64_t>;  // by name of knob

  void add_graph(const Graph& graph);
  void add_moves(const Moves& moves);
  void add_fault(const std::string& cause);
  std::int64_t moves() const;  // of all knobs

  std::int64_t runs = 0;
  std::int64_t epochs = 0;                     // asked for, by a run's start or by number
  std::int64_t errors = 0;                     // delivered
  std::int64_t abandonments = 0;               // runs destroyed before their end
  std::int64_t resumptions = 0;                // runs begun from a checkpoint
  std::int64_t memory_waits = 0;               // runs in which a stage was seen waiting for the budget
  std::int64_t late = 0;                       // completions after their run's end
  std::int64_t dropped = 0;                    // errors that ignore_errors left out of runs read to their end
  std::map<std::string, std::int64_t> faults;  // errors delivered, by what was thrown, with its numbers as #
  std::int64_t lost = 0;                       // completions dropped without an answer that were delivered as errors

  // Of all draws that made the schedules of pumped runs: two series that did the same have the same number.
  std::uint64_t schedules = 0;

  // For people: what was met, and how often.
  std::string table() const;
  std::string fault_table() const;

  // What was met too rarely, a line each. scale 1 asks for what 21,000 graphs have to meet.
  std::vector<std::string> shortfalls(double scale) const;

 private:
  std::int64_t graphs_ = 0;
  std::int64_t applied_ = 0;
  std::array<std::int64_t, model::kKinds> ops_{};
  std::array<std::array<std::int64_t, model::kKinds>, model::kKinds> pairs_{};  // [first][second]
  Moves moves_;
};

}  // namespace random_graphs
