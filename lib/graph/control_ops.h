// Two ops that are instructions to the engine rather than stages of their own.
#pragma once

#include <penstock/op.h>

#include <cstdint>

namespace penstock::graph {

// Everything upstream, count times; -1: for ever. The engine restarts the source.
class RestartOp : public Op {
 public:
  virtual std::int64_t count() const = 0;
};

// A buffer between two stages: the engine widens the edge, or the consumer's queue behind the last
// stage.
class BufferOp : public Op {
 public:
  virtual Tunable size() const = 0;
};

}  // namespace penstock::graph
