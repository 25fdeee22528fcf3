// What the graph's checks, and the plan of a run, must know of an op beyond its kind. An op with such a property
// derives from the class as well.
#pragma once

#include <penstock/op.h>

#include <cstdint>
#include <string>

namespace penstock::graph {

class RepeatsAround;  // repeats.h

// Not of one that has a state: calls at once would race for it.
inline bool is_reentrant(const ElementwiseOp& op) { return op.is_reentrant() && !op.has_state(); }
// Of such an op 1, whatever it says.
inline Tunable calls_at_once(const ElementwiseOp& op) { return is_reentrant(op) ? op.parallelism() : Tunable(1); }

// Has a name that the user has given to this very step of a pipeline ("decode"), beside the op's ("map").
class NamedByUser {
 public:
  virtual const std::string& label() const = 0;  // "": none was given

 protected:
  ~NamedByUser() = default;
};

// A source that can tell lists of elements apart beyond their number: checkpoints compare it.
class HasDigest {
 public:
  virtual const std::string& digest() const = 0;  // "": it cannot

 protected:
  ~HasDigest() = default;
};

// Changes the order at random (shuffle).
class ShufflesOrder {
 public:
  // False if every process would draw an order of its own.
  virtual bool is_seeded() const = 0;
  virtual std::string parameters_but_seed() const = 0;

 protected:
  ~ShufflesOrder() = default;
};

// Its order depends on how often it has been opened before (shuffle in TensorFlow's order): by the repeats around it,
// and by the loops before this one. Where it is put into a graph, it is asked for itself as it is there.
class CountsOpenings {
 public:
  virtual OpRef among(const RepeatsAround& repeats) const = 0;
  virtual const RepeatsAround& repeats() const = 0;
  // For a plain `for` loop, which goes on where those before it have come to.
  virtual OpRef in_a_loop() const = 0;
  // Of such an op: the loop is over, and has opened it so often. Any thread.
  virtual void loop_is_over(std::uint64_t openings) const = 0;

 protected:
  ~CountsOpenings() = default;
};

// Leaves other ranks' elements out by position (shard), so all ranks need the same order before it.
class SplitsByPosition {
 public:
  virtual std::int64_t num_shards() const = 0;
  // Whether the parts are those of processes that wait for each other, so that all must be equally long.
  virtual bool is_among_ranks() const = 0;

 protected:
  ~SplitsByPosition() = default;
};

// Leaves elements out by their position alone, the same ones in each pass (shard, take, skip).
class SelectsTheSame {
 public:
  virtual bool selects_all() const = 0;  // it leaves out none

 protected:
  ~SelectsTheSame() = default;
};

// May end a pass before its input does (take, take_while, zip).
class EndsPasses {
 public:
  virtual bool may_end_pass(std::int64_t input_cardinality) const = 0;

 protected:
  ~EndsPasses() = default;
};

// Calls a function of the user's for each element, and gives at most one in its place (map, filter).
class AnswersInPlace {
 public:
  // Whether it may run in one call with the op right before or behind it: it computes, and that is known; it keeps the
  // order, is free in how many calls there are, and foretells nothing of its results.
  virtual bool may_share_calls() const = 0;
  // No element fails in it, and none is left out.
  virtual bool cannot_fail() const = 0;

 protected:
  ~AnswersInPlace() = default;
};

// Makes each element a dataset (an Element that holds a NodeRef), whose elements are given in turn (interleave): an
// ElementwiseOp whose run() only opens them.
class OpensDatasets {
 public:
  virtual std::int64_t cycle_length() const = 0;  // of them are open at once, and give
  virtual std::int64_t block_length() const = 0;  // elements, before it is the next one's turn

 protected:
  ~OpensDatasets() = default;
};
// Of inputs without an end there is none; how many others become, nobody knows.
inline Flow flow_of_opened(const Flow& input) {
  return {.cardinality = input.cardinality == INFINITE_CARDINALITY ? INFINITE_CARDINALITY : UNKNOWN_CARDINALITY};
}

// Its inputs run when it asks for that, and then one pass, the first one of epoch 0, whatever the repeats behind it and
// the run's epochs say (cache): a MergeOp, whose state is an AsksForInputs.
class RunsInputsOnce {
 protected:
  ~RunsInputsOnce() = default;
};
class AsksForInputs {
 public:
  // Rises where they are to run, once however much it has risen. Asked behind want(). The pass that they are in ends
  // early then.
  virtual std::uint32_t runs_of_inputs() const = 0;
  // Whether the input, run again, has not come to what had been given of it: it has ended before, or something fails
  // that did not, and it does not keep its numbers then (its slots are not those of a list of positions). Asked of a
  // stage, behind other calls.
  virtual bool has_missed(bool keeps_numbers) const noexcept = 0;

 protected:
  ~AsksForInputs() = default;
};

// What an op between does to the places of elements in the batch to come. Any other stream op may leave some out or
// change their order.
class PutsTogether {  // batch
 public:
  virtual std::int64_t batch_size() const = 0;

 protected:
  ~PutsTogether() = default;
};
class TakesApart {  // unbatch: each element becomes its rows
 protected:
  ~TakesApart() = default;
};
class KeepsElements {  // ignore_errors: all elements, and their order
 protected:
  ~KeepsElements() = default;
};

}  // namespace penstock::graph
