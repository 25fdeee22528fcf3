// How a pipeline is printed: describe() for people, pipeline_text() and work_text() for comparing two pipelines.
#include <algorithm>
#include <array>
#include <map>

#include "lib/graph/arguments.h"
#include "lib/graph/control_ops.h"
#include "lib/graph/node.h"
#include "lib/graph/rewritten.h"
#include "lib/graph/traits.h"

namespace penstock::graph {
namespace {

void add(std::string& list, const std::string& item) {
  if (item.empty()) return;
  if (!list.empty()) list += ", ";
  list += item;
}

// What decides the elements and their order.
std::string parameters_of(const Node& node) {
  std::string text = node.op().parameters();
  const auto* op = node.as<ElementwiseOp>();
  if (op != nullptr && op->order() == Order::arbitrary) add(text, "order=arbitrary");
  return text;
}

// What checkpoints compare: of a list which elements it has, and not where it stands.
std::string compared_parameters_of(const Node& node) {
  const auto* list = node.as<HasDigest>();
  if (list == nullptr || list->digest().empty()) return parameters_of(node);
  return std::to_string(node.flow().cardinality) + " elements, digest=" + list->digest();
}

// What decides how much work an element is: neither which elements there are nor their order.
std::string work_parameters_of(const Node& node) {
  if (node.kind() == Kind::source) return {};
  const auto* shuffle = node.as<ShufflesOrder>();
  return shuffle != nullptr ? shuffle->parameters_but_seed() : parameters_of(node);
}

// "of 1, 4": where it does not follow from the line before, which tells of the op with the number `before`. "": the op
// has no input, or that one.
std::string inputs_of(const Use& use, int before) {
  if (use.inputs.empty() || (use.inputs.size() == 1 && use.inputs.front() == before)) return {};
  std::string text;
  for (const int input : use.inputs) text += (text.empty() ? "of " : ", ") + std::to_string(input);
  return text;
}

std::string line_of(const Use& use, const std::string& parameters) {
  const std::string inputs = inputs_of(use, use.number - 1);
  return std::to_string(use.number) + " " + use.node->op().name() + "(" + parameters + ")" +
         (inputs.empty() ? "" : " " + inputs) + "\n";
}

std::string form_text(const ElementwiseOp& op) {
  if (op.form() == Form::completes_later) return "completes later";
  if (!op.form_is_known()) return {};
  return op.form() == Form::blocks ? "blocks" : "";
}

// What decides only when things happen.
std::string tuning_of(const Node& node) {
  std::string text;
  if (const auto* op = node.as<ElementwiseOp>()) {
    add(text, "parallelism=" + to_string(calls_at_once(*op)));
    add(text, form_text(*op));
  }
  if (const auto* op = node.as<BufferOp>()) add(text, "buffer_size=" + to_string(op->size()));
  return text;
}

using Row = std::array<std::string, 4>;

constexpr std::size_t kDeepestIndent = 20;  // of thousands of inputs the lines would be pages wide

Row row_of(const Use& use, int before, std::size_t indent) {
  std::string parameters = inputs_of(use, before);
  add(parameters, parameters_of(*use.node));
  add(parameters, use.shares_calls ? "in the calls of " + std::to_string(before) : tuning_of(*use.node));
  return {std::to_string(use.number), std::string(2 * std::min(indent, kDeepestIndent), ' ') + use.node->op().name(),
          parameters, to_string(use.node->site())};
}

// How many inputs of ops further down stand open above each line: the branches beside it that are complete.
std::vector<std::size_t> indents_of(const std::vector<Use>& all) {
  std::map<int, std::size_t> lines;
  for (std::size_t i = 0; i < all.size(); ++i) lines[all[i].number] = i;
  std::vector<std::size_t> indents(all.size(), 0);
  for (std::size_t i = all.size(); i-- > 0;) {
    const auto& inputs = all[i].inputs;
    for (std::size_t port = 0; port < inputs.size(); ++port) indents[lines.at(inputs[port])] = indents[i] + port;
  }
  return indents;
}

std::array<std::size_t, 4> widths_of(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  return widths;
}

std::string print(const Row& row, const std::array<std::size_t, 4>& widths) {
  std::string line(widths[0] - row[0].size(), ' ');
  line += row[0];
  for (std::size_t i = 1; i < row.size(); ++i) {
    line += "  " + row[i];
    line.append(widths[i] - row[i].size(), ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string describe(const NodeRef& node) { return describe(as_written(node)); }

std::string describe(const Rewritten& graph) {
  std::vector<Row> rows;
  const std::vector<Use>& all = graph.uses;
  const std::vector<std::size_t> indents = indents_of(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    rows.push_back(row_of(all[i], i == 0 ? -1 : all[i - 1].number, indents[i]));
  const auto widths = widths_of(rows);
  std::string text;
  for (const Row& row : rows) text += print(row, widths);
  return text;
}

std::string pipeline_text(const NodeRef& node) {
  std::string text;
  for (const Use& use : uses(node)) text += line_of(use, compared_parameters_of(*use.node));
  return text;
}

std::string work_text(const NodeRef& node) {
  std::string text;
  for (const Use& use : uses(node)) text += line_of(use, work_parameters_of(*use.node));
  return text;
}

}  // namespace penstock::graph
