// BatchAhead: the batch that a stage's results go to, as far as their places in it can be foreseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <penstock/op.h>

namespace penstock::exec {

struct BatchAhead {
  std::int64_t size = 0;     // 0: there is none, or something between changes order or leaves elements out
  std::size_t depth = 0;     // repeats upstream of it: marks of this level end its input
  bool takes_apart = false;  // by unbatch: one result of the stage is several elements of the batch
  Declares declares = Declares::whenever;             // of the stage's op
  std::shared_ptr<const ElementwiseOp> op = nullptr;  // the same, to be asked for outputs_of(); null: nobody is asked
  int places_end = -1;  // of a batch itself: the stage before which no result has a place in it; -1: it is none
};

}  // namespace penstock::exec
