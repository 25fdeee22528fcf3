// The referee for semantics: what a pipeline must deliver, told by the shortest program that can be
// read against the headers. No threads, no buffers, no library header: each op asks the one before
// it for the next item.
//
//   model::Pipeline pipeline({{.kind = Kind::range, .count = 10}, {.kind = Kind::batch, .count = 4}});
//   pipeline.begin_epoch(0);
//   while (auto item = pipeline.next()) ...
//
// Two things no model can know. The order of a shuffle: it is given as a tape, recorded from a run;
// the model checks that it is a legal one and goes on with it. The order behind an op that need not
// keep it: items then carry a group, and only the multiset within each group is told.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/model/value.h"

namespace model {

// The ops, by name: those that have a case, tests/ops/NAME_case.h.
enum class Kind : std::uint8_t {
#define PENSTOCK_OP(name) name,
#include "tests/ops/names.inc"
#undef PENSTOCK_OP
};
inline constexpr int kKinds = 0
#define PENSTOCK_OP(name) +1
#include "tests/ops/names.inc"
#undef PENSTOCK_OP
    ;

const char* name_of(Kind kind);

struct Op {
  Kind kind = Kind::range;
  // A source's elements; shards; take, skip, repeat, batch: n; shuffle: buffer; own_stream: per sum.
  std::int64_t count = 0;
  // shard: which one; own_stream: sums of a pass after which it ends the pass (0: never).
  std::int64_t index = 0;
  std::int64_t first = 0;     // a source's first number; map: what is added
  std::int64_t step = 1;      // a source's difference; map: the factor; flat_map: results at most
  Modulus keeps = {};         // filter
  Modulus fails = {};         // the function throws
  Modulus loses = {};         // own_async: the completion is dropped without an answer
  Modulus fails_passes = {};  // from_generator: beginning a pass fails, by the number epoch + pass
  bool any_text = false;      // the words of a failure are not known here
  bool drop_remainder = false;
  bool pads_to_boundary = false;  // of bucket_by_sequence_length
  bool lists = false;             // from_vector, from_generator: every fourth value is a list
  // map, from_generator: adds a number made of epoch, pass and source ordinal.
  bool stamped = false;
  bool arbitrary = false;  // results may leave in any order
  std::string name = {};   // of an op that means the same as `kind`, but is called otherwise
};

inline std::string name_of(const Op& op) { return op.name.empty() ? name_of(op.kind) : op.name; }

// Element `i` of a source.
Value source_value(const Op& op, std::int64_t i);

// Where an item comes from: the last element of the source that went into it.
struct Origin {
  std::uint32_t epoch = 0;
  std::uint32_t pass = 0;
  std::int64_t ordinal = 0;
  friend bool operator==(const Origin&, const Origin&) = default;
};

// What a stamped function adds.
std::int64_t stamp_number(const Origin& origin);

// What own_elementwise answers for a value that it does not fail on, and what own_async.
std::vector<Value> own_answer(const Value& value);
std::vector<Value> async_answer(const Value& value);

// What own_stream gives for the values that it has collected.
Value sum_of(const std::vector<Value>& values);

// One delivery: a value, or an error in its place.
struct Item {
  Value value = {};
  Origin origin = {};
  int failed_op = -1;      // position of the op that failed; -1: it is a value
  std::string cause = {};  // text of the exception; empty where the model does not know the words
  std::int64_t input = 0;  // of an error: which of the failing op's inputs of this epoch
  int group = 0;
  bool failed() const { return failed_op >= 0; }
};

// One pass of a shuffle that had any input, as it was seen behind it. `ended`: the end was seen, too.
struct TapePass {
  std::vector<Item> items = {};  // of an error only failed_op (any number >= 0)
  bool ended = false;
};
using Tape = std::vector<TapePass>;

// A recorded order that no shuffle may give.
class IllegalOrder : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The source had to give more than `work_limit` elements: perhaps the pipeline never ends.
class TooMuchWork : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Pipeline {
 public:
  // tapes[i] belongs to op i, for the epoch that will be begun. A shuffle without one counts as an arbitrary op.
  explicit Pipeline(std::vector<Op> ops, std::vector<Tape> tapes = {}, std::int64_t work_limit = 20'000);
  ~Pipeline();

  void begin_epoch(std::uint32_t epoch);
  std::optional<Item> next();

  // Errors that ignore_errors has left out since begin_epoch().
  std::int64_t dropped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace model
