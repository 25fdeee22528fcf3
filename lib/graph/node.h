// Node: one op of a pipeline and its inputs. A Dataset<T> holds the last node of its pipeline: of a chain, or of a tree
// where an op has several inputs.
//
// Nodes never change and are shared, so one prefix may belong to many pipelines, or to several inputs of one; the only
// thing that moves is the epoch counter, which is atomic. Any thread may read one.
//
//   for (const Use& use : graph::uses(last))          // a source first
//     if (auto* op = use.node->as<StreamOp>()) ...
#pragma once

#include <penstock/call_site.h>
#include <penstock/graph.h>
#include <penstock/op.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/graph/path.h"

namespace penstock::graph {

// Which of the interfaces in op.h and control_ops.h an op has.
enum class Kind : std::uint8_t { source, elementwise, stream, merge, repeat, buffer };

class Node {
 public:
  // Use append(), which checks. Throws what op->flow() throws.
  [[gnu::visibility("hidden")]] Node(std::vector<NodeRef> inputs, OpRef op, Kind kind, CallSite site,
                                     const std::type_info* gives);

  std::span<const NodeRef> inputs() const noexcept { return inputs_; }  // none of a source; several of a merge
  const Op& op() const noexcept { return *op_; }
  Kind kind() const noexcept { return kind_; }
  const CallSite& site() const noexcept { return site_; }
  // Along the first inputs: the source there is 0. In a chain it is the number of the op.
  int position() const noexcept { return position_; }
  // How many ops there are up to this one: a node that is used twice counts twice, with all that is before it.
  std::int64_t uses() const noexcept { return uses_; }
  const Flow& flow() const noexcept { return flow_; }                 // of what this op gives
  const std::type_info* gives() const noexcept { return gives_; }     // see append()
  bool counts_openings() const noexcept { return counts_openings_; }  // it does, or something before it (traits.h)

  // The op as one of its interfaces, null if it has another.
  template <class Interface> const Interface* as() const noexcept { return dynamic_cast<const Interface*>(op_.get()); }

  // The same one behind other inputs, with another op of its kind; null: with its own.
  NodeRef with(std::vector<NodeRef> inputs, OpRef op) const {
    return std::make_shared<const Node>(std::move(inputs), op ? std::move(op) : op_, kind_, site_, gives_);
  }

  std::uint32_t take_epoch() const noexcept { return epochs_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::vector<NodeRef> inputs_;
  OpRef op_;
  Kind kind_;
  CallSite site_;
  int position_;
  std::int64_t uses_;
  Flow flow_;
  const std::type_info* gives_;
  bool counts_openings_;
  mutable std::atomic<std::uint32_t> epochs_{0};
};

// A node in its place in a pipeline.
struct Use {
  const Node* node;
  int number = 0;                // its place in that order
  std::vector<int> inputs = {};  // numbers of those that feed it; the last one's is right below its own
  Path path = {};                // of the branch that it is in; before a cache, of the first one that the cache is in
  bool shares_calls = false;     // it runs in the calls of the op before it
};

// All that lies before `last`, and `last` itself, in post-order: the inputs of an op from the first to the last one,
// then the op. Of a chain that is from the source to `last`. `last` must not be null, else Error(invalid_argument). The
// nodes live as long as `last` does.
std::vector<Use> uses(const NodeRef& last);

// What the user calls this step, "decode"; else the op's name, "map".
std::string label_of(const Node& node);

// For error texts: "map", or "map 'decode'".
std::string title_of(const Node& node);
std::string named(const Use& use);  // "map 'decode' (op 3)"

// "train.cc:12", without folders; "" if unknown.
std::string to_string(const CallSite& site);

// What the pipeline delivers, one op a line: describe() without call sites, parallelism and
// buffers, which change nothing, and with digests of lists. Two pipelines with the same text give the same elements if
// their functions and source data are the same.
std::string pipeline_text(const NodeRef& node);

// How the pipeline works, one op a line: pipeline_text() without what the source's parameters say and
// without seeds. Pipelines with the same text need the same tuning if their functions are the same.
std::string work_text(const NodeRef& node);

}  // namespace penstock::graph
