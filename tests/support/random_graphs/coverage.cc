#include "tests/support/random_graphs/coverage.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <sstream>
#include <utility>

#include "tests/ops/all_cases.h"

namespace random_graphs {

using model::Kind;

namespace {

// For 20,000 graphs under the hand-pumped launcher and 1,000 on real TBB.
constexpr double kEachOp = 1'000;
constexpr double kEachPair = 12;
constexpr double kEachKnob = 100'000;
constexpr double kErrors = 5'000;
constexpr double kAbandonments = 2'000;
constexpr double kResumptions = 5'000;
constexpr double kMemoryWaits = 1'000;

bool is_drawn(Kind kind) {
  return op_cases::with_case(kind, []<class Case>(Case) { return Case::kIsDrawn; });
}

using enum Elements::Type;
constexpr std::array kTypes{number, name, value, numbers, names, values, pair};

const std::vector<std::string> kKnobs{"parallelism", "window", "buffer", "placement", "grain_ns", "prefetch", "memory"};

// Whether the second op can be written directly behind the first one.
bool can_follow(Kind first, Kind second) {
  if (op_cases::is_source(second)) return false;
  return op_cases::with_case(first, [&]<class First>(First) {
    return std::ranges::any_of(kTypes, [&](Elements::Type type) {
      Elements elements{.type = type};
      if (First::kIsSource ? type != number : !First::fits(elements)) return false;
      First::after({}, elements);
      return op_cases::with_case(second, [&]<class Case>(Case) { return Case::fits(elements); });
    });
  });
}

class Shortfalls {
 public:
  explicit Shortfalls(double scale) : scale_(scale) {}
  void ask(const std::string& what, std::int64_t met, double wanted) {
    const auto least = static_cast<std::int64_t>(wanted * scale_);
    if (met < least) lines_.push_back(what + ": " + std::to_string(met) + ", wanted " + std::to_string(least));
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const double scale_;
  std::vector<std::string> lines_;
};

}  // namespace

void Coverage::add_graph(const Graph& graph) {
  ++graphs_;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const auto kind = static_cast<std::size_t>(graph.ops[i].kind);
    ++ops_[kind];
    if (i > 0) ++pairs_[static_cast<std::size_t>(graph.ops[i - 1].kind)][kind];
    applied_ += graph.how[i].applied ? 1 : 0;
  }
}

void Coverage::add_moves(const Moves& moves) {
  for (const auto& [knob, count] : moves) moves_[knob] += count;
}

void Coverage::add_fault(const std::string& cause) {
  std::string kind;
  for (const char c : cause) {
    const char shown = (c >= '0' && c <= '9') || c == '-' ? '#' : c;
    if (shown != '#' || !kind.ends_with('#')) kind += shown;
  }
  ++faults[kind];
}

std::int64_t Coverage::moves() const {
  std::int64_t sum = 0;
  for (const auto& [knob, count] : moves_) sum += count;
  return sum;
}

std::vector<std::string> Coverage::shortfalls(double scale) const {
  Shortfalls missing(scale);
  for (int i = 0; i < model::kKinds; ++i) {
    const auto first = static_cast<Kind>(i);
    if (!is_drawn(first)) continue;
    missing.ask(model::name_of(first), ops_[static_cast<std::size_t>(i)], kEachOp);
    for (int j = 0; j < model::kKinds; ++j) {
      const auto second = static_cast<Kind>(j);
      if (!can_follow(first, second)) continue;
      const std::string pair = std::string(model::name_of(first)) + " " + model::name_of(second);
      missing.ask(pair, pairs_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], kEachPair);
    }
  }
  missing.ask("apply", applied_, kEachOp);
  for (const std::string& knob : kKnobs)
    missing.ask("moves of " + knob, moves_.contains(knob) ? moves_.at(knob) : 0, kEachKnob);
  missing.ask("errors", errors, kErrors);
  missing.ask("abandonments", abandonments, kAbandonments);
  missing.ask("resumptions", resumptions, kResumptions);
  missing.ask("runs in which a stage waited for memory", memory_waits, kMemoryWaits);
  return missing.take();
}

std::string Coverage::fault_table() const {
  std::ostringstream out;
  out << graphs_ << " graphs, " << runs << " runs, " << epochs << " epochs: " << errors << " errors delivered, "
      << dropped << " dropped, " << abandonments << " abandonments, " << resumptions << " resumptions, " << memory_waits
      << " runs with waits for memory, " << late << " late and " << lost << " lost completions, " << moves()
      << " knob moves\n";
  for (const auto& [kind, count] : faults) out << std::setw(9) << count << "  " << kind << '\n';
  return out.str();
}

std::string Coverage::table() const {
  std::ostringstream out;
  out << graphs_ << " graphs, " << runs << " runs: " << errors << " errors, " << abandonments << " abandonments, "
      << resumptions << " resumptions, " << memory_waits << " runs with waits for memory, " << late << " late and "
      << lost << " lost completions\n";
  for (const auto& [knob, count] : moves_)
    out << "  knob " << std::left << std::setw(14) << knob << std::right << std::setw(10) << count << '\n';
  out << "op, its count, then how often the op of that column came right behind it\n" << std::setw(28) << ' ';
  for (int i = 0; i < model::kKinds; ++i)
    if (!op_cases::is_source(static_cast<Kind>(i))) out << std::setw(6) << i;
  out << '\n';
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    out << std::setw(3) << i << ' ' << std::left << std::setw(16) << model::name_of(static_cast<Kind>(i)) << std::right
        << std::setw(8) << ops_[i];
    for (std::size_t j = 0; j < ops_.size(); ++j)
      if (!op_cases::is_source(static_cast<Kind>(j))) out << std::setw(6) << pairs_[i][j];
    out << '\n';
  }
  out << "    apply           " << std::setw(8) << applied_ << '\n';
  return out.str();
}

}  // namespace random_graphs
