// Body: what a stage does with a group, without threads, locks or buffers. One class per kind of op.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/group.h"
#include "lib/exec/pass_control.h"

namespace penstock::exec {

// Asks that the pass which `sequence` belongs to ends early; see PassControl::end.
struct PassCut {
  std::size_t depth;
  std::uint32_t sequence;
};

// What bodies ask of the engine. Any thread.
class BodyHost {
 public:
  virtual ~BodyHost() = default;
  virtual void cut_pass(std::size_t stage, const PassCut& cut) = 0;
  virtual void count_dropped(std::size_t stage, std::int64_t errors) = 0;
};

class Body {
 public:
  virtual ~Body() = default;

  // Runs a group in place: afterwards its slots are results, not yet sealed (seal.h). Stream bodies and sources are called by one
  // thread at a time and in order, others by several. Throws only RetryWhenMemoryIsFree, with the group untouched: whatever else a
  // user's code throws becomes a failed slot.
  virtual void run(Group& group, Context& context) = 0;

  // Third form only: hands the single element over.
  virtual void start(Group&, Context&, Completion) {}

  // Bytes that the results will hold, where the op can tell.
  virtual std::optional<std::int64_t> bytes_hint(const Group&) const { return std::nullopt; }

  // Sources: whether there is anything to produce now.
  virtual bool can_produce() const { return false; }

  virtual std::int64_t held_bytes() const { return 0; }

  // After run(): which of the stage's inputs of this pass failed, given the place of the failure among the results.
  virtual std::int64_t failed_input(const Group& group, std::size_t result) const {
    return group.first_ordinal + static_cast<std::int64_t>(result);
  }

  // Before the first slot arrives: a stream op may say that it wants nothing at all.
  virtual void begin() {}

  // The run goes on behind an element that came from `last`: a source begins with that one.
  virtual void resume_at(const Stamp&) {}
  // Whether its pass ended without that element having come by. Any thread.
  virtual bool has_missed_resumption() const noexcept { return false; }
};

// Calls an ElementwiseOp for each stretch of elements; errors and marks between them stay where they are.
class ElementwiseBody final : public Body {
 public:
  // borrows: its inputs may refer to values of the source, and its results must not.
  explicit ElementwiseBody(std::shared_ptr<const ElementwiseOp> op, bool borrows = false) : op_(std::move(op)), borrows_(borrows) {}
  void run(Group& group, Context& context) override;
  void start(Group& group, Context& context, Completion completion) override;
  std::optional<std::int64_t> bytes_hint(const Group& group) const override;

 private:
  std::shared_ptr<const ElementwiseOp> op_;
  const bool borrows_;
};

// Feeds a StreamState, slot by slot, and keeps the books of its passes.
class StreamBody final : public Body, private Emitter {
 public:
  StreamBody(std::unique_ptr<StreamState> state, std::size_t stage, std::size_t depth, BodyHost& host);
  void run(Group& group, Context& context) override;
  std::int64_t held_bytes() const override { return held_bytes_; }
  std::int64_t failed_input(const Group& group, std::size_t result) const override;
  void begin() override { begin_pass(Stamp()); }

 private:
  void emit(Element value, const Stamp& stamp) override { out_.emplace_back(std::move(value), stamp); }
  void forward(Slot&& slot) override { out_.push_back(std::move(slot)); }
  void drop_error(Slot&&) override { host_.count_dropped(stage_, 1); }
  void end_pass() override;

  void take(Slot&& slot);
  void take_mark(Slot&& mark);
  void begin_pass(const Stamp& stamp);
  template <class Call> void guarded(const Stamp& stamp, Call&& call);
  void note_failures(std::size_t from, std::int64_t input);

  std::unique_ptr<StreamState> state_;
  const std::size_t stage_;
  const std::size_t depth_;
  BodyHost& host_;
  Slots out_;
  struct Failure {
    std::size_t result;
    std::int64_t input;
  };
  std::vector<Failure> failures_;  // of the group being run
  std::uint32_t sequence_ = 0;  // of the pass being read
  bool wants_nothing_ = false;
  std::int64_t held_bytes_ = 0;
};

// The part of an endless repeat that is not in PassControl: a pass that gave nothing ends it. Counting repeats need no stage.
class RepeatBody final : public Body {
 public:
  RepeatBody(std::size_t stage, std::size_t depth, BodyHost& host) : stage_(stage), depth_(depth), host_(host) {}
  void run(Group& group, Context& context) override;
  void resume_at(const Stamp&) override { gave_something_ = true; }

 private:
  bool keep(Slot& slot);
  bool keep_mark(const Slot& mark);

  const std::size_t stage_;
  const std::size_t depth_;   // repeats upstream, without this one
  BodyHost& host_;
  bool gave_something_ = false;
  bool ended_ = false;        // an empty pass was seen: everything up to the mark of the next level is left out
};

// Where a chain begins: an indexable source with the ops that select and order its positions, or a reader.
struct SourceParts {
  std::shared_ptr<const SourceOp> op;
  std::unique_ptr<IndexSequence> order;  // null: read in order
  bool lends = false;  // elements may refer to the source's values: whoever gets them is done with them before the run is
};

class SourceBody final : public Body {
 public:
  SourceBody(SourceParts parts, PassControl& passes);
  void run(Group& group, Context& context) override;
  bool can_produce() const override { return !passes_.idle(); }
  std::int64_t failed_input(const Group& group, std::size_t result) const override;
  void resume_at(const Stamp& last) override;

 private:
  bool produce_one(Slots& out, Context& context);
  bool begin_reading(const Stamp& pass, Slots& out);
  bool leave_out_delivered(Slots& slots);
  std::optional<Element> next(Context& context);

  SourceParts parts_;
  std::unique_ptr<SourceReader> reader_;
  PassControl& passes_;
  Stamp at_;                              // the element to be made next
  std::optional<Stamp> resume_;
};

}  // namespace penstock::exec
