// indexed_source: the op of every source whose elements can be made in any order. The engine visits
// its positions in an order that shuffle, shard, take and skip behind it choose before anything is made.
//
// One with graph::kEndless positions counts as endless.
#pragma once

#include <penstock/op.h>

#include <memory>
#include <string>

#include "lib/graph/positions.h"

namespace penstock::ops {

class IndexedSourceOp final : public SourceOp {
 public:
  IndexedSourceOp(std::string name, std::string parameters, std::shared_ptr<const IndexedSource> source);
  std::string name() const override { return name_; }
  std::string parameters() const override { return parameters_; }
  Flow flow(const Flow&) const override {
    return {.cardinality = source_->size() != graph::kEndless ? source_->size() : INFINITE_CARDINALITY};
  }
  const IndexedSource* indexed() const override { return source_.get(); }
  std::unique_ptr<SourceReader> open() const override { return nullptr; }

 private:
  std::string name_;
  std::string parameters_;
  std::shared_ptr<const IndexedSource> source_;
};

}  // namespace penstock::ops
