#include "ops/indexed_source.h"

#include <penstock/ops.h>

#include <utility>

#include "lib/graph/arguments.h"

namespace penstock::ops {

IndexedSourceOp::IndexedSourceOp(std::string name, std::string parameters, std::shared_ptr<const IndexedSource> source,
                                 std::string digest)
    : name_(std::move(name)),
      parameters_(std::move(parameters)),
      source_(std::move(source)),
      digest_(std::move(digest)) {
  if (!source_) throw Error(ErrorCode::invalid_argument, "the source is a null pointer; give an IndexedSource");
  if (source_->size() < 0) graph::reject("size()", "at least 0", source_->size());
}

OpRef indexed_source(std::string name, std::string parameters, std::shared_ptr<const IndexedSource> source,
                     std::string digest) {
  return std::make_shared<IndexedSourceOp>(std::move(name), std::move(parameters), std::move(source),
                                           std::move(digest));
}

}  // namespace penstock::ops
