#include "lib/graph/node.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/graph/control_ops.h"
#include "lib/graph/positions.h"
#include "lib/graph/repeats.h"
#include "lib/graph/rewritten.h"
#include "lib/graph/traits.h"

namespace penstock::graph {
namespace {

constexpr std::int64_t kMostUses = 4096;

int position_behind(std::span<const NodeRef> inputs) { return inputs.empty() ? 0 : inputs.front()->position() + 1; }

std::int64_t uses_with(std::span<const NodeRef> inputs) {
  std::int64_t sum = 1;
  for (const NodeRef& input : inputs) sum += input ? input->uses() : 0;  // none: the error that says so is under way
  return sum;
}

// An input, as a list of them.
std::vector<NodeRef> list_of(const NodeRef& input) { return input ? std::vector{input} : std::vector<NodeRef>(); }

Flow flow_of(const Op& op, std::span<const NodeRef> inputs) {
  const auto* merge = dynamic_cast<const MergeOp*>(&op);
  if (merge == nullptr) return op.flow(inputs.empty() ? Flow{} : inputs.front()->flow());
  std::vector<Flow> flows;
  for (const NodeRef& input : inputs) flows.push_back(input->flow());
  return merge->flow_of(flows);
}

std::optional<Kind> kind_of(const Op& op) {
  if (dynamic_cast<const SourceOp*>(&op)) return Kind::source;
  if (dynamic_cast<const ElementwiseOp*>(&op)) return Kind::elementwise;
  if (dynamic_cast<const StreamOp*>(&op)) return Kind::stream;
  if (dynamic_cast<const MergeOp*>(&op)) return Kind::merge;
  if (dynamic_cast<const RestartOp*>(&op)) return Kind::repeat;
  if (dynamic_cast<const BufferOp*>(&op)) return Kind::buffer;
  return std::nullopt;
}

// Why an op of this kind cannot stand behind these inputs; "" if it can.
std::string misplacement(std::span<const NodeRef> inputs, const std::optional<Kind>& kind) {
  if (!kind) return "the op is neither a SourceOp nor an ElementwiseOp nor a StreamOp nor a MergeOp (see op.h)";
  if (*kind == Kind::source && !inputs.empty()) return "it is a source and can only stand first";
  if (*kind == Kind::merge && inputs.empty()) return "the list of datasets is empty: give it one at least";
  if (*kind != Kind::source && inputs.empty())
    return "it needs an input: begin with a source (range, from_vector, from_file_list, "
           "from_generator)";
  if (*kind != Kind::merge && inputs.size() > 1)
    return "it takes one input, but has " + std::to_string(inputs.size()) +
           ": put them together first, as by zip or concatenate";
  if (uses_with(inputs) > kMostUses)
    return "the pipeline would have " + std::to_string(uses_with(inputs)) + " ops, and may have " +
           std::to_string(kMostUses) + ": a dataset that is used twice counts twice, for it is run twice";
  return {};
}

bool draws_anew(const Use& use) {
  const auto* shuffle = use.node->as<ShufflesOrder>();
  return shuffle != nullptr && !shuffle->is_seeded();
}

bool is_uncounted(const Use& use) { return use.node->flow().cardinality == UNKNOWN_CARDINALITY; }

// Ranks that draw different orders would read some elements twice and others never.
std::string order_conflict(const NodeRef& input) {
  const std::vector<Use> all = uses(input);
  const auto shuffle = std::find_if(all.rbegin(), all.rend(), draws_anew);
  if (shuffle == all.rend()) return {};
  return "each rank would draw another order, because " + named(*shuffle) +
         " has no seed: give it the same one on all ranks, as in shuffle(n, {.seed = 7})";
}

// The first op behind which nobody knows how many elements there are.
Use first_uncounted(const NodeRef& last) {
  const std::vector<Use> all = uses(last);
  const auto uncounted_input = [&all](const Use& use) {
    return std::ranges::find_if(use.inputs,
                                [&all](int input) { return is_uncounted(all[static_cast<std::size_t>(input)]); });
  };
  Use first = all.back();
  for (auto input = uncounted_input(first); input != first.inputs.end(); input = uncounted_input(first))
    first = Use(all[static_cast<std::size_t>(*input)]);
  return first;
}

// Of plain positions there are as many in each pass, though merges do not say so (tf.data's do not).
bool are_counted(const NodeRef& input) {
  if (input->flow().cardinality != UNKNOWN_CARDINALITY) return true;
  const auto positions = positions_up_to(input);
  return positions && positions->is_plain;
}

// Ranks that get different numbers of elements, and wait for each other after every step, hang at the end.
std::string count_conflict(const NodeRef& input) {
  if (are_counted(input)) return {};
  const Use uncounted = first_uncounted(input);
  return "ranks may get different numbers of elements, because it is unknown how many leave " + named(uncounted) +
         ", and a rank that waits for the others would hang: put " +
         (uncounted.inputs.empty() ? "" : "shard before that op, or ") +
         "repeat() between them and end all ranks after the same number of steps, or write shard(world.size, "
         "world.rank) if they "
         "do not wait";
}

std::string rank_conflict(std::span<const NodeRef> inputs, const Op& op) {
  const auto* shard = dynamic_cast<const SplitsByPosition*>(&op);
  if (shard == nullptr || shard->num_shards() <= 1) return {};
  std::string problem = order_conflict(inputs.front());
  if (problem.empty() && shard->is_among_ranks()) problem = count_conflict(inputs.front());
  return problem;
}

// What an op says of itself that cannot be at once.
std::string contradiction(const Op& op) {
  const auto* calls = dynamic_cast<const ElementwiseOp*>(&op);
  if (calls == nullptr || !calls->has_state() || calls->form() != Form::completes_later) return {};
  return "it has a state, whose calls follow each other, and completes later, when others have begun: leave "
         "has_state() false, and keep the state in the "
         "op with a lock of its own; or answer in run()";
}

// A Dataset is a pointer to its last node.
const Node& node_of(const NodeRef& last) {
  if (last) return *last;
  throw Error(ErrorCode::invalid_argument,
              "the dataset is empty: it was moved from, or made of a null node. Use the one that it was moved to, or "
              "begin with a source");
}

class ListOfUses {
 public:
  // Adds what lies before the node, then the node. Returns its number.
  int add(const Node& node, Path path) {
    // Which of its places a cache is filled from hangs on the time: what it keeps must not hang on that.
    if (node.as<RunsInputsOnce>() != nullptr) path = caches_.try_emplace(&node, path).first->second;
    std::vector<int> inputs;
    for (std::size_t i = 0; i < node.inputs().size(); ++i)
      inputs.push_back(add(*node.inputs()[i], path.through(i, node.position())));
    const int number = static_cast<int>(all_.size());
    all_.push_back({.node = &node, .number = number, .inputs = std::move(inputs), .path = path});
    return number;
  }
  std::vector<Use> take() { return std::move(all_); }

 private:
  std::vector<Use> all_;
  std::map<const Node*, Path> caches_;  // where each was met first
};

}  // namespace

Node::Node(std::vector<NodeRef> inputs, OpRef op, Kind kind, CallSite site, const std::type_info* gives)
    : inputs_(std::move(inputs)),
      op_(std::move(op)),
      kind_(kind),
      site_(site),
      position_(position_behind(inputs_)),
      uses_(uses_with(inputs_)),
      flow_(graph::flow_of(*op_, inputs_)),
      gives_(gives),
      counts_openings_(as<CountsOpenings>() != nullptr ||
                       (as<RunsInputsOnce>() == nullptr &&
                        std::ranges::any_of(inputs_, [](const NodeRef& input) { return input->counts_openings(); }))) {}

NodeRef append(const NodeRef& input, OpRef op, CallSite site, const std::type_info* gives) {
  return append(list_of(input), std::move(op), site, gives);
}

NodeRef append(std::vector<NodeRef> inputs, OpRef op, CallSite site, const std::type_info* gives) {
  for (const NodeRef& input : inputs) node_of(input);
  if (!op)
    fail(inputs, "then", site, "the op is a null pointer; give it one, as in then<Out>(std::make_shared<MyOp>())");
  const std::string name = op->name();
  const std::optional<Kind> kind = kind_of(*op);
  std::string problem = misplacement(inputs, kind);
  if (problem.empty()) problem = contradiction(*op);
  if (problem.empty()) problem = rank_conflict(inputs, *op);
  if (!problem.empty()) fail(inputs, name.c_str(), site, problem);
  try {
    if (const auto* repeat = dynamic_cast<const RestartOp*>(op.get()))
      inputs.front() = behind_which_is_repeated(inputs.front(), repeat->count());
    if (const auto* counts = dynamic_cast<const CountsOpenings*>(op.get()))
      op = counts->among(RepeatsAround(repeats_up_to(*inputs.front())));
    return std::make_shared<const Node>(inputs, std::move(op), *kind, site, gives);
  } catch (const Error& error) {
    fail(inputs, name.c_str(), site, error.what());
  }
}

void fail(const NodeRef& input, const char* op, CallSite site, const std::string& reason) {
  fail(list_of(input), op, site, reason);
}

void fail(const std::vector<NodeRef>& inputs, const char* op, CallSite site, const std::string& reason) {
  std::string place =
      "op " + std::to_string(uses_with(inputs) - 1) + (inputs.size() > 1 ? " of the pipeline" : " of the chain");
  const std::string line = to_string(site);
  if (!line.empty()) place += ", " + line;
  throw GraphError(std::string(op) + ": " + reason + " (" + place + ")");
}

std::int64_t cardinality(const NodeRef& node) { return node_of(node).flow().cardinality; }

std::uint32_t take_epoch(const NodeRef& node) { return node_of(node).take_epoch(); }

std::vector<Use> uses(const NodeRef& last) {
  ListOfUses list;
  list.add(node_of(last), Path());
  return list.take();
}

Rewritten as_written(const NodeRef& last) { return {.uses = uses(last), .changes = {}}; }

std::string label_of(const Node& node) {
  const auto* named = node.as<NamedByUser>();
  return named == nullptr || named->label().empty() ? node.op().name() : named->label();
}

std::string title_of(const Node& node) {
  const std::string label = label_of(node), op = node.op().name();
  return label == op ? op : op + " '" + label + "'";
}

std::string named(const Use& use) { return title_of(*use.node) + " (op " + std::to_string(use.number) + ")"; }

std::string to_string(const CallSite& site) {
  std::string_view file = site.file;
  if (file.empty()) return {};
  file.remove_prefix(file.find_last_of('/') + 1);  // npos + 1 is 0
  return std::string(file) + ":" + std::to_string(site.line);
}

}  // namespace penstock::graph
