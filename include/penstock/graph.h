// The graph behind a Dataset: immutable nodes, each an op with its inputs. Read it, print it, never run it.
//
//   std::cout << ps::describe(train);
//  0  from_file_list  train.txt, 1281167 files    main.cc:10
//  1  shuffle         buffer_size=200000, seed=7  main.cc:11
//  2  map             parallelism=auto            main.cc:12
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include <penstock/call_site.h>
#include <penstock/op.h>

#pragma GCC visibility push(default)

namespace penstock::graph {

class Node;
using NodeRef = std::shared_ptr<const Node>;

// A new node behind `input` (null: a source). Throws GraphError if the op cannot stand there. `gives`: the type that
// all elements which leave the op must have, if that is to be looked at while a run gets them; null: it is known to be
// right.
NodeRef append(const NodeRef& input, OpRef op, CallSite site, const std::type_info* gives = nullptr);
// Behind several inputs: the op must be a MergeOp.
NodeRef append(std::vector<NodeRef> inputs, OpRef op, CallSite site, const std::type_info* gives = nullptr);

// Throws GraphError with the op's name, its position in the chain, the user's file and line, and the reason.
[[noreturn]] void fail(const NodeRef& input, const char* op, CallSite site, const std::string& reason);
[[noreturn]] void fail(const std::vector<NodeRef>& inputs, const char* op, CallSite site, const std::string& reason);

std::int64_t cardinality(const NodeRef& node);
std::string describe(const NodeRef& node);

// The next epoch number of a plain `for` loop over this node: 0, 1, 2, ... Any thread.
std::uint32_t take_epoch(const NodeRef& node);

// append(), with argument errors of `make` told as GraphError. Input: one, null, or several.
template <class Input, class Make>
NodeRef build(const Input& input, const char* op, CallSite site, Make&& make, const std::type_info* gives = nullptr) {
  try {
    return append(input, make(), site, gives);
  } catch (const GraphError&) {
    throw;
  } catch (const Error& error) {
    fail(input, op, site, error.what());
  }
}

}  // namespace penstock::graph

#pragma GCC visibility pop
