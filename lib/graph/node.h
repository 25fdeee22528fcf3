// Node: one op of a pipeline and its place in it. A Dataset<T> holds the last node of its chain.
//
// Nodes never change and are shared, so one prefix may belong to many pipelines; the only thing
// that moves is the epoch counter, which is atomic. Any thread may read one.
//
//   for (const Node* node : graph::chain(last))          // the source first
//     if (auto* op = node->as<StreamOp>()) ...
#pragma once

#include <penstock/call_site.h>
#include <penstock/graph.h>
#include <penstock/op.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock::graph {

// Which of the interfaces in op.h and control_ops.h an op has.
enum class Kind : std::uint8_t { source, elementwise, stream, repeat, buffer };

class Node {
 public:
  // Use append(), which checks. Throws what op->flow() throws.
  [[gnu::visibility("hidden")]] Node(NodeRef input, OpRef op, Kind kind, CallSite site, const std::type_info* gives);

  const NodeRef& input() const noexcept { return input_; }  // null for a source
  const Op& op() const noexcept { return *op_; }
  Kind kind() const noexcept { return kind_; }
  const CallSite& site() const noexcept { return site_; }
  int position() const noexcept { return position_; }              // in the chain; the source is 0
  const Flow& flow() const noexcept { return flow_; }              // of what this op gives
  const std::type_info* gives() const noexcept { return gives_; }  // see append()

  // The op as one of its interfaces, null if it has another.
  template <class Interface> const Interface* as() const noexcept { return dynamic_cast<const Interface*>(op_.get()); }

  std::uint32_t take_epoch() const noexcept { return epochs_.fetch_add(1, std::memory_order_relaxed); }

 private:
  NodeRef input_;
  OpRef op_;
  Kind kind_;
  CallSite site_;
  int position_;
  Flow flow_;
  const std::type_info* gives_;
  mutable std::atomic<std::uint32_t> epochs_{0};
};

// All nodes from the source to `last`, which must not be null, else Error(invalid_argument). They live as long as
// `last` does.
std::vector<const Node*> chain(const NodeRef& last);

// What the user calls this step, "decode"; else the op's name, "map".
std::string label_of(const Node& node);

// For error texts: "map", or "map 'decode'".
std::string title_of(const Node& node);

// "train.cc:12", without folders; "" if unknown.
std::string to_string(const CallSite& site);

// What the pipeline delivers, one op a line: describe() without call sites, parallelism and
// buffers, which change nothing. Two pipelines with the same text give the same elements if their
// functions and source data are the same.
std::string pipeline_text(const NodeRef& node);

// How the pipeline works, one op a line: pipeline_text() without what the source's parameters say and
// without seeds. Pipelines with the same text need the same tuning if their functions are the same.
std::string work_text(const NodeRef& node);

}  // namespace penstock::graph
