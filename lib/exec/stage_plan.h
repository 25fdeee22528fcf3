// StagePlan: one stage of the engine, as compiled from one or several ops of the graph.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/batch_ahead.h"
#include "lib/exec/body.h"
#include "lib/exec/edges.h"

namespace penstock::graph {
class Node;
}

namespace penstock::exec {

// Where a knob begins that is left to the controller: at `start`, or at the nearest that the user allows.
inline std::int64_t first_value(const Tunable& asked, std::int64_t start) {
  constexpr std::int64_t kAsGoodAsAny = std::int64_t{1} << 40;  // sums and doubles of it are still numbers
  const std::int64_t low = std::clamp<std::int64_t>(asked.low(), 1, kAsGoodAsAny);
  return std::clamp(start, low, std::clamp<std::int64_t>(asked.high(), low, kAsGoodAsAny));
}

// Of a stage, as the user wrote it.
struct StageLabel {
  // the user's name, "decode"; else the ops it runs, "from_file_list+shard+shuffle" where several are fused
  std::string name;
  std::string op;  // for errors, "map 'decode'"; its first op alone: of a fused source the only one that can fail
  std::string call_site;  // of its first op
  int position = 0;       // of its first op in the pipeline
};

// Of the node with this number in the pipeline.
StageLabel label_of(const graph::Node& node, int number);

// What a stream op must hold to make progress.
struct Holding {
  std::int64_t elements = 1;
  std::int64_t bytes_of_place = 0;  // for each of them
};

// An input of a merge.
struct PortPlan {
  std::size_t depth = 0;       // repeats in the branch
  Tunable buffer = AUTOTUNE;   // fixed by a prefetch at its end
  bool runs_once = false;      // it does not go through the merge's passes, as all its inputs
  bool keeps_numbers = false;  // as Plan's
};

// Stages between which passes are counted alike: a source or a merge, and what follows up to the next merge.
struct Segment {
  std::size_t head = 0;  // its first stage
  // Counts of its repeats, and behind them those of all segments further down, but for those that a merge which runs
  // its inputs once cuts off.
  std::vector<std::int64_t> repeats = {};
  std::optional<std::size_t> asked_by = {};  // that merge: its passes are those that this stage asks for, not the run's
};

// What the type of a stage's results tells.
struct ResultType {
  const std::type_info* must_be = nullptr;  // null: it is known to be right
  std::int64_t bytes = 0;                   // of every result, with its place; 0: they differ
};

// Of a stage that makes elements datasets, and gives theirs in turn (Lanes).
struct NestPlan {
  std::int64_t cycle_length = 0;  // 0: it does not
  std::int64_t block_length = 1;
  bool has_state = false;  // its function, which each pass has for itself
};

struct StagePlan {
  StageLabel label;
  std::uint64_t random_key = 0;  // by which its numbers differ from other stages'; graph::Path
  std::size_t depth = 0;         // repeats upstream, in the segment
  std::vector<PortPlan> ports;   // of a merge
  bool serial = true;            // one call at a time, in order: sources and stream ops
  ResultType gives;
  Form form = Form::computes;
  bool form_is_known = true;
  bool is_reentrant = true;  // false: parallelism is 1 for good
  bool is_prompt = true;     // false: a generator. It may read a queue, and its next element may be long in coming
  Order order = Order::kept;
  bool has_state = false;         // of each pass: parallelism is 1, and its body is told of marks; of nests: NestPlan
  bool passes_memory_on = false;  // results hold only what the inputs held: nothing is reserved for them
  NestPlan nest;
  Holding holding;
  BatchAhead batch;  // where its results will lie
  Tunable parallelism = 1;
  Tunable buffer = AUTOTUNE;         // of its input; fixed by a prefetch before it
  Tunable buffer_behind = AUTOTUNE;  // of its results; fixed by a prefetch behind it

  bool is_merge() const noexcept { return !ports.empty(); }
  bool runs_inputs_once() const noexcept { return is_merge() && ports.front().runs_once; }
  bool is_nest() const noexcept { return nest.cycle_length > 0; }

  // Whether no element may begin that is a window or more behind the oldest one that is not done (Ring). Only where the
  // user has fixed the number of calls: who leaves it to the controller asks for no bound.
  bool keeps_near() const noexcept {
    return !serial && !is_nest() && order == Order::kept && !parallelism.is_automatic() && parallelism.low() > 1;
  }

  // The same for results in arbitrary order, which pass each other but not the end of a pass: no element behind one
  // begins while one before it is not done, for it might wait for what the other holds.
  bool keeps_passes_apart() const noexcept {
    return !serial && !is_nest() && order == Order::arbitrary && !parallelism.is_automatic() && parallelism.low() > 1;
  }

  // Makes the body for stage `index` of a run.
  using Open = std::function<std::unique_ptr<Body>(std::size_t index, BodyHost& host, PassControl& passes)>;
  Open open;
};

// A source of the tree.
struct SourcePlan {
  const IndexedSource* items = nullptr;  // null: it has a reader, which may name what it reads
  int position = 0;                      // in the pipeline
  std::size_t reader = 0;                // by which that is asked: the number of its stage
};

// The name is none where there is no such item: a stamp may be a mark's, or one that a user's op has made up. If the
// source throws, it is a text that says so: names are asked for where errors are made and told, which nothing may keep
// from that. `reader_names`: names what a reader has read.
using ReaderNames = std::function<std::string(std::size_t reader)>;
SourceItem item_of(std::span<const SourcePlan> sources, std::size_t source, std::int64_t ordinal,
                   const ReaderNames& reader_names);

struct Plan {
  std::vector<StagePlan> stages;        // in post-order,
  Edges edges;                          // and who feeds whom
  std::vector<Segment> segments;        // in the order of their heads: the last one feeds the outlet
  std::vector<std::size_t> segment_of;  // of each stage
  std::vector<SourcePlan> sources;      // in post-order: Stamp::source
  Tunable prefetch = AUTOTUNE;          // of the outlet
  std::size_t arbitrary_stage = 0;      // the first whose results leave in any order; 0: all orders are kept
  std::string text;                     // of the pipeline, for checkpoints
  std::string work_text;                // the same without seeds and data, and with the changes, for tuning
  std::vector<std::string> changes;     // of the graph as written, in words
  bool resumes_by_position = false;     // see Checkpoint::Kind
  // Each result stands for one of a list of positions, or is that one's error: whatever fails, numbers tell which.
  bool keeps_numbers = false;
  std::size_t resume_stage = 0;  // where results already delivered are left out: the first stream stage, or the outlet

  // Whether runs give save points: not where they are resumed by position, or where elements come in any order.
  bool has_save_points() const noexcept { return !resumes_by_position && arbitrary_stage == 0; }
  // Counts of the repeats that the consumer sees, nearest to the source first.
  const std::vector<std::int64_t>& repeats() const { return segments.back().repeats; }

  // Its number: Stamp::source.
  std::uint16_t add_source(const SourcePlan& source);
  SourceItem item(std::size_t source, std::int64_t ordinal, const ReaderNames& reader_names = nullptr) const {
    return item_of(sources, source, ordinal, reader_names);
  }
};

}  // namespace penstock::exec
