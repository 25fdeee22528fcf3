#include "lib/graph/repeats.h"

#include <algorithm>
#include <functional>
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
  if (!node->counts_openings()) return node;
  std::vector<NodeRef> inputs(node->inputs().begin(), node->inputs().end());
  for (NodeRef& input : inputs) input = changed(input, change);
  const auto* counts = node->as<CountsOpenings>();
  return node->with(std::move(inputs), counts == nullptr ? nullptr : change(*counts));
}

// What may end passes early before the node gives them, behind a repeat of an op that counts; null: nothing.
const Node* cuts_a_repeat(const Node& node) {
  const auto* repeat = node.as<RestartOp>();
  if (!node.counts_openings() || node.inputs().empty() || (repeat != nullptr && repeat->count() != 1)) return nullptr;
  const auto* ends = node.as<EndsPasses>();
  const bool may_end = ends != nullptr && ends->may_end_pass(node.inputs().front()->flow().cardinality);
  for (const NodeRef& input : node.inputs()) {
    if (may_end && input->counts_openings() && !repeats_up_to(*input).empty()) return &node;
    if (const Node* before = cuts_a_repeat(*input)) return before;
  }
  return nullptr;
}

// Not those before a cache, which are opened once.
void for_each_that_counts(const Node& node, const std::function<void(const CountsOpenings&)>& call) {
  if (!node.counts_openings()) return;
  for (const NodeRef& input : node.inputs()) for_each_that_counts(*input, call);
  if (const auto* counts = node.as<CountsOpenings>()) call(*counts);
}

}  // namespace

RepeatsAround RepeatsAround::with(const Repeat& repeat) const {
  RepeatsAround more = *this;
  more.counts_.push_back(repeat.count);
  more.opens_again_.push_back(repeat.opens_again);
  return more;
}

// Of the op's own passes, in the order in which they follow each other.
std::uint64_t RepeatsAround::passes_before(std::uint32_t pass) const {
  const auto digits = digits_of_pass(pass, counts_);
  std::uint64_t passes = 0;
  for (std::size_t i = digits ? digits->size() : before_; i > before_; --i)
    passes = passes * static_cast<std::uint64_t>(counts_[i - 1]) + static_cast<std::uint64_t>((*digits)[i - 1]);
  return passes;
}

std::uint64_t RepeatsAround::openings_in(std::uint64_t passes) const {
  std::uint64_t openings = passes;
  std::int64_t round = 1;
  for (std::size_t i = 0; i < opens_again_.size(); ++i) {
    round = times(round, counts_[before_ + i]);
    if (round < 1) break;  // what lies behind one without end is never reached
    if (opens_again_[i]) openings += passes / static_cast<std::uint64_t>(round);
  }
  return openings;
}

std::optional<std::uint64_t> RepeatsAround::in_an_epoch() const {
  std::int64_t passes = 1;
  for (std::size_t i = before_; i < counts_.size(); ++i) passes = times(passes, counts_[i]);
  return passes < 0 ? std::nullopt : std::optional(openings_in(static_cast<std::uint64_t>(passes)));
}

std::vector<std::int64_t> repeats_up_to(const Node& node) {
  const auto* repeat = node.as<RestartOp>();
  std::vector<std::int64_t> counts;
  if (!node.inputs().empty() && node.as<RunsInputsOnce>() == nullptr) counts = repeats_up_to(*node.inputs().front());
  if (repeat != nullptr && repeat->count() != 1) counts.push_back(repeat->count());
  return counts;
}

NodeRef behind_which_is_repeated(const NodeRef& node, std::int64_t count) {
  if (count == 1 || !node->counts_openings()) return node;
  if (const Node* cuts = cuts_a_repeat(*node))
    throw Error(ErrorCode::invalid_argument,
                "a shuffle in TensorFlow's order would depend on where " + title_of(*cuts) +
                    " ends a pass, between this repeat and one before it: put it behind this repeat, or use "
                    "ShuffleOrder::keyed");
  const RepeatsAround::Repeat repeat{.count = count, .opens_again = !is_directly_behind_one_that_counts(*node)};
  return changed(node, [&](const CountsOpenings& op) { return op.among(op.repeats().with(repeat)); });
}

NodeRef for_one_loop(const NodeRef& node) {
  if (!node || !node->counts_openings()) return nullptr;
  return changed(node, [](const CountsOpenings& op) { return op.in_a_loop(); });
}

// Where something may have ended it early, all that is known is what it came to.
void loop_is_over(const NodeRef& node, std::optional<std::uint32_t> last_pass, bool at_its_end) {
  const bool is_whole = at_its_end && cuts_a_repeat(*node) == nullptr;
  for_each_that_counts(*node, [&](const CountsOpenings& counts) {
    const auto whole = is_whole ? counts.repeats().in_an_epoch() : std::nullopt;
    counts.loop_is_over(whole.value_or(counts.repeats().openings_before(last_pass.value_or(0)) + 1));
  });
}

}  // namespace penstock::graph
