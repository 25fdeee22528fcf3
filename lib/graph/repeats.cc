#include "lib/graph/repeats.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/core/pass_number.h"
#include "lib/graph/control_ops.h"
#include "lib/graph/node.h"
#include "lib/graph/traits.h"

namespace penstock::graph {
namespace {

// -1 stands for "no end", and for more than can be counted.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

bool does_nothing(const Node& node) {
  if (const auto* repeat = node.as<RestartOp>()) return repeat->count() == 1;
  const auto* selects = node.as<SelectsTheSame>();
  return selects != nullptr && selects->selects_all();
}

// TensorFlow makes one op of a shuffle and the repeat behind it, and leaves out what does nothing before it looks.
bool is_directly_behind_one_that_counts(const Node& input) {
  const Node* node = &input;
  while (does_nothing(*node)) node = node->inputs().front().get();
  return node->as<CountsOpenings>() != nullptr;
}

using Change = std::function<OpRef(const CountsOpenings&)>;

// The ops that count their openings are changed, and all nodes that they feed are made anew.
NodeRef changed(const NodeRef& node, const Change& change) {
  std::vector<NodeRef> inputs(node->inputs().begin(), node->inputs().end());
  for (NodeRef& input : inputs) input = changed(input, change);
  const auto* counts = node->as<CountsOpenings>();
  if (counts == nullptr && std::ranges::equal(inputs, node->inputs())) return node;
  return node->with(std::move(inputs), counts == nullptr ? nullptr : change(*counts));
}

}  // namespace

RepeatsAround RepeatsAround::with(const Repeat& repeat) const {
  RepeatsAround more = *this;
  more.counts_.push_back(repeat.count);
  more.opens_again_.push_back(repeat.opens_again);
  return more;
}

std::int64_t RepeatsAround::openings_before(std::uint32_t pass) const { return openings_in(passes_before(pass)); }

// Of the op's own passes, in the order in which they follow each other.
std::int64_t RepeatsAround::passes_before(std::uint32_t pass) const {
  const auto digits = digits_of_pass(pass, counts_);
  if (!digits) return pass;  // of a run inside another one, which goes on with that one's numbers
  std::int64_t passes = 0;
  for (std::size_t i = digits->size(); i > before_; --i) passes = passes * counts_[i - 1] + (*digits)[i - 1];
  return passes;
}

std::int64_t RepeatsAround::openings_in(std::int64_t passes) const {
  std::int64_t openings = passes, round = 1;
  for (std::size_t i = 0; i < opens_again_.size(); ++i) {
    round = times(round, counts_[before_ + i]);
    if (round < 1) break;  // what lies behind one without end is never reached
    if (opens_again_[i]) openings += passes / round;
  }
  return openings;
}

std::int64_t RepeatsAround::passes_in_an_epoch() const {
  std::int64_t passes = 1;
  for (std::size_t i = before_; i < counts_.size(); ++i) passes = times(passes, counts_[i]);
  return passes;
}

std::optional<std::int64_t> RepeatsAround::in_an_epoch() const {
  const std::int64_t passes = passes_in_an_epoch();
  return passes < 0 ? std::nullopt : std::optional(openings_in(passes));
}

// Where it has come to its last pass, its end is taken for that of all passes. A take() behind the last repeat that
// stops in that pass looks the same.
std::int64_t RepeatsAround::in_a_loop(std::optional<std::uint32_t> last_pass, bool at_its_end) const {
  const std::int64_t passes = passes_before(last_pass.value_or(0)) + 1;
  const bool is_whole = at_its_end && (!last_pass || passes == passes_in_an_epoch());
  return (is_whole ? in_an_epoch() : std::nullopt).value_or(openings_in(passes - 1) + 1);
}

std::vector<std::int64_t> repeats_up_to(const Node& node) {
  const auto* repeat = node.as<RestartOp>();
  std::vector<std::int64_t> counts;
  if (!node.inputs().empty()) counts = repeats_up_to(*node.inputs().front());
  if (repeat != nullptr) counts.push_back(repeat->count());
  return counts;
}

NodeRef behind_which_is_repeated(const NodeRef& node, std::int64_t count) {
  if (count == 1) return node;
  const RepeatsAround::Repeat repeat{.count = count, .opens_again = !is_directly_behind_one_that_counts(*node)};
  return changed(node, [&](const CountsOpenings& op) { return op.among(op.repeats().with(repeat)); });
}

NodeRef for_one_loop(const NodeRef& node) {
  NodeRef bound = changed(node, [](const CountsOpenings& op) { return op.in_a_loop(); });
  return bound == node ? nullptr : bound;
}

void loop_is_over(const NodeRef& node, std::optional<std::uint32_t> last_pass, bool at_its_end) {
  for (const Use& use : uses(node)) {
    if (const auto* counts = use.node->as<CountsOpenings>()) counts->loop_is_over(last_pass, at_its_end);
  }
}

}  // namespace penstock::graph
