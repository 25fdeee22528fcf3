// What is told of each op in its case, tests/ops/NAME_case.h, a struct op_cases::NAME:
//
//   Meaning     what it means to the list model, as a model::Stage
//   build       how it is written in C++
//   fits        where it may stand in a random graph
//   draw        how its numbers are drawn there
//   after       what is known of the elements behind it
//   lines       as what it goes through the conformance suite
//
// The list model, the random graphs and the conformance suite read the cases, and have no list of ops of their own:
// CMake finds the files.
//
// No header of the library is seen here, as nowhere in the model. So build() asks all it needs, and what a user's
// function needs, of a harness (harness.h): random graphs and conformance suite have one each. What the functions
// compute is the same code in Meaning and build.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/stages.h"
#include "tests/support/random_graphs/draw.h"
#include "tests/support/random_graphs/how.h"

namespace op_cases {

using model::Item;
using model::Kind;
using model::Op;
using model::Setup;
using model::Value;
using random_graphs::Draw;
using random_graphs::Elements;
using random_graphs::How;

// One line of the conformance suite: an op as it is checked, with those that it needs before it.
struct Line {
  std::string name;  // of the op, then what is special: "shuffle, over positions"
  std::vector<Op> ops;
  How how = {};                 // of the last one
  bool over_positions = false;  // right behind a source that can be indexed, not behind something that computes
};

// What holds for most ops.
struct AnyOp {
  static constexpr bool kIsSource = false;
  static constexpr bool kTakesBatches = false;  // and nothing that has no rows
  static constexpr bool kMakesBatches = false;
  static constexpr bool kMakesSameBatches = false;  // of rows that batch() would put together so
  static constexpr bool kMakesPairs = false;
  static constexpr bool kIsDrawn = true;     // in random graphs
  static constexpr bool kRemembers = false;  // values that it compares with others

  static bool fits(const Elements&) { return true; }
  static std::int64_t weight(const Elements&) { return 4; }  // against other ops that fit
  static void draw(Op&, How&, Draw) {}
  static void after(const Op&, Elements&) {}
  static bool ends_passes(const Op&) { return false; }  // before their input ends

  static constexpr bool kCallsFunction = false;  // a user's, which can fail
  static constexpr bool kDropsErrors = false;    // and counts them
  static constexpr bool kHoldsUnknown = false;   // elements: as many as what comes demands
  // Most that it holds at once beside elements and a place for each: nodes of groups, rows that have left while their
  // batch is still there.
  static constexpr std::int64_t kBytesBeside = 0;
  static constexpr std::int64_t kLeastCount = 0;    // a source that refuses shorter lists
  static constexpr const char* kOnlyCopyable = "";  // why it cannot carry move-only payloads
};

struct SourceCase : AnyOp {
  using Meaning = model::Source;
  static constexpr bool kIsSource = true;
};

// Whose results depend on the order of what comes.
struct NeedsOrder : AnyOp {
  static bool fits(const Elements& in) { return !in.arbitrary; }
};

// Less often than those that users write most, or graphs of these would become rare.
struct OneOfMany : NeedsOrder {
  static std::int64_t weight(const Elements& in) { return in.is_batch() ? 4 : 2; }  // batches are rare themselves
};

struct CallsFunction : AnyOp {
  static constexpr bool kCallsFunction = true;
};

}  // namespace op_cases
