#include "lib/graph/node.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/graph/control_ops.h"
#include "lib/graph/traits.h"

namespace penstock::graph {
namespace {

int position_behind(const NodeRef& input) { return input ? input->position() + 1 : 0; }

std::optional<Kind> kind_of(const Op& op) {
  if (dynamic_cast<const SourceOp*>(&op)) return Kind::source;
  if (dynamic_cast<const ElementwiseOp*>(&op)) return Kind::elementwise;
  if (dynamic_cast<const StreamOp*>(&op)) return Kind::stream;
  if (dynamic_cast<const RestartOp*>(&op)) return Kind::repeat;
  if (dynamic_cast<const BufferOp*>(&op)) return Kind::buffer;
  return std::nullopt;
}

// Why an op of this kind cannot stand behind `input`; "" if it can.
std::string misplacement(const NodeRef& input, const std::optional<Kind>& kind) {
  if (!kind) return "the op is neither a SourceOp nor an ElementwiseOp nor a StreamOp (see op.h)";
  if (*kind == Kind::source && input) return "it is a source and can only stand first";
  if (*kind != Kind::source && !input)
    return "it needs an input: begin with a source (range, from_vector, from_file_list, "
           "from_generator)";
  return {};
}

const Node* find_unseeded_shuffle(const NodeRef& last) {
  for (const Node* node = last.get(); node != nullptr; node = node->input().get()) {
    const auto* shuffle = node->as<ShufflesOrder>();
    if (shuffle != nullptr && !shuffle->is_seeded()) return node;
  }
  return nullptr;
}

std::string named(const Node& node) { return title_of(node) + " (op " + std::to_string(node.position()) + ")"; }

// Ranks that draw different orders would read some elements twice and others never.
std::string order_conflict(const NodeRef& input) {
  const Node* shuffle = find_unseeded_shuffle(input);
  if (shuffle == nullptr) return {};
  return "each rank would draw another order, because " + named(*shuffle) +
         " has no seed: give it the same one on all ranks, as in shuffle(n, {.seed = 7})";
}

// The first op behind which nobody knows how many elements there are.
const Node& first_uncounted(const NodeRef& last) {
  const Node* first = last.get();
  while (first->input() && first->input()->flow().cardinality == UNKNOWN_CARDINALITY) first = first->input().get();
  return *first;
}

// Ranks that get different numbers of elements, and wait for each other after every step, hang at the end.
std::string count_conflict(const NodeRef& input) {
  if (input->flow().cardinality != UNKNOWN_CARDINALITY) return {};
  const Node& uncounted = first_uncounted(input);
  return "ranks may get different numbers of elements, because it is unknown how many leave " + named(uncounted) +
         ", and a rank that waits for the others would hang: put " +
         (uncounted.input() ? "shard before that op, or " : "") +
         "repeat() between them and end all ranks after the same number of steps, or write shard(world.size, "
         "world.rank) if they "
         "do not wait";
}

std::string rank_conflict(const NodeRef& input, const Op& op) {
  const auto* shard = dynamic_cast<const SplitsByPosition*>(&op);
  if (shard == nullptr || shard->num_shards() <= 1) return {};
  std::string problem = order_conflict(input);
  if (problem.empty() && shard->is_among_ranks()) problem = count_conflict(input);
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

}  // namespace

Node::Node(NodeRef input, OpRef op, Kind kind, CallSite site, const std::type_info* gives)
    : input_(std::move(input)),
      op_(std::move(op)),
      kind_(kind),
      site_(site),
      position_(position_behind(input_)),
      flow_(op_->flow(input_ ? input_->flow() : Flow{})),
      gives_(gives) {}

NodeRef append(const NodeRef& input, OpRef op, CallSite site, const std::type_info* gives) {
  if (!op)
    fail(input, "then", site, "the op is a null pointer; give it one, as in then<Out>(std::make_shared<MyOp>())");
  const std::string name = op->name();
  const std::optional<Kind> kind = kind_of(*op);
  std::string problem = misplacement(input, kind);
  if (problem.empty()) problem = contradiction(*op);
  if (problem.empty()) problem = rank_conflict(input, *op);
  if (!problem.empty()) fail(input, name.c_str(), site, problem);
  try {
    return std::make_shared<const Node>(input, std::move(op), *kind, site, gives);
  } catch (const Error& error) {
    fail(input, name.c_str(), site, error.what());
  }
}

void fail(const NodeRef& input, const char* op, CallSite site, const std::string& reason) {
  std::string place = "op " + std::to_string(position_behind(input)) + " of the chain";
  const std::string line = to_string(site);
  if (!line.empty()) place += ", " + line;
  throw GraphError(std::string(op) + ": " + reason + " (" + place + ")");
}

std::int64_t cardinality(const NodeRef& node) { return node_of(node).flow().cardinality; }

std::uint32_t take_epoch(const NodeRef& node) { return node_of(node).take_epoch(); }

std::vector<const Node*> chain(const NodeRef& last) {
  std::vector<const Node*> nodes;
  for (const Node* node = &node_of(last); node != nullptr; node = node->input().get()) nodes.push_back(node);
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

std::string label_of(const Node& node) {
  const auto* named = node.as<NamedByUser>();
  return named == nullptr || named->label().empty() ? node.op().name() : named->label();
}

std::string title_of(const Node& node) {
  const std::string label = label_of(node), op = node.op().name();
  return label == op ? op : op + " '" + label + "'";
}

std::string to_string(const CallSite& site) {
  std::string_view file = site.file;
  if (file.empty()) return {};
  file.remove_prefix(file.find_last_of('/') + 1);  // npos + 1 is 0
  return std::string(file) + ":" + std::to_string(site.line);
}

}  // namespace penstock::graph
