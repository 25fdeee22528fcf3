// indexed_source: the op of every source whose elements can be made in any order. The engine visits
// its positions in an order that shuffle, shard, take and skip behind it choose before anything is made.
//
// One with graph::kEndless positions counts as endless.
#pragma once

#include <penstock/op.h>

#include <memory>
#include <string>

#include "lib/graph/positions.h"
#include "lib/graph/traits.h"

namespace penstock::ops {

class IndexedSourceOp final : public SourceOp, public graph::HasDigest {
 public:
  IndexedSourceOp(std::string name, std::string parameters, std::shared_ptr<const IndexedSource> source,
                  std::string digest);
  std::string name() const override { return name_; }
  std::string parameters() const override { return parameters_; }
  Flow flow(const Flow&) const override {
    return {.cardinality = source_->size() != graph::kEndless ? source_->size() : INFINITE_CARDINALITY};
  }
  const IndexedSource* indexed() const override { return source_.get(); }
  std::unique_ptr<SourceReader> open() const override { return nullptr; }
  const std::string& digest() const override { return digest_; }

 private:
  std::string name_;
  std::string parameters_;
  std::shared_ptr<const IndexedSource> source_;
  std::string digest_;
};

}  // namespace penstock::ops
