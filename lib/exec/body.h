// Body: what a stage does with a group, without threads, locks or buffers. One class per kind of op.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/op.h>

#include "lib/exec/elementwise_passes.h"
#include "lib/exec/group.h"
#include "lib/exec/held_bytes.h"
#include "lib/exec/pass_control.h"
#include "lib/exec/save_point.h"
#include "lib/exec/stage_signs.h"
#include "lib/exec/stream_saves.h"

namespace penstock::exec {

// Of what is about no element: the beginning or the end of a pass.
inline Stamp of_no_element(Stamp pass) noexcept {
  pass.ordinal = -1;
  pass.sub = 0;  // a mark has a number there
  return pass;
}

// Adds an error with what the user's code has just thrown, in the place of its results.
void append_failure(Slots& out, const Stamp& stamp);

// Tells how far the call has come. Returns whether others want the rest of its inputs back.
inline bool tell(OpenCall& call, std::size_t answered) {
  call.progress.answered.store(answered, std::memory_order_release);
  return call.progress.is_wanted_back.load(std::memory_order_relaxed);
}

// What an element was made of.
struct SourceItem {
  int position = -1;  // of the source in the pipeline, where there are several; -1: there is one
  std::string name;   // "" if it has none
};

// Asks that the pass which `sequence` belongs to ends early; see PassControl::end.
struct PassCut {
  std::size_t depth;
  std::uint64_t sequence;
};

// What bodies ask of the engine. Any thread.
class BodyHost {
 public:
  virtual ~BodyHost() = default;
  virtual void cut_pass(std::size_t stage, const PassCut& cut) = 0;  // when the source looks
  // The same of an input of a merge: nothing is wanted of a pass of that branch.
  virtual void cut_input(std::size_t stage, std::size_t port, const PassCut& cut) = 0;
  // The mark with this sequence has come to a merge by that input: nobody will ask for it.
  virtual void input_has_ended(std::size_t stage, std::size_t port, std::uint64_t sequence) = 0;
  // Of a merge that runs its inputs once: they run their pass again.
  virtual void begin_inputs(std::size_t stage) = 0;
  virtual std::optional<Slot> close_pass(
      std::size_t stage,
      const PassCut& cut) = 0;  // at once; gives the mark for what lies behind, if it has not had one
  virtual bool is_unwanted(std::size_t stage, const PassCut& cut) const = 0;  // because of such a request
  virtual void count_dropped(std::size_t stage, std::int64_t errors) = 0;
  virtual std::int64_t now() const = 0;  // ns
  virtual std::uint64_t run_seed() const noexcept = 0;
  virtual SourceItem item(const Stamp& stamp) const = 0;
  // How often save points are to be given; null: none is of use.
  virtual const SaveSpacing* saves() const noexcept = 0;
  virtual void give_up(std::exception_ptr cause) noexcept = 0;  // nothing new begins, and the consumer gets this
};

// What ends the run where a state cannot take up what it wrote. There is memory.
std::exception_ptr of_restore(const std::exception_ptr& cause) noexcept;

// Gives something the state that it had. What `restore` throws, or leaves over, ends the run.
template <class Restore> void restore_or_give_up(BodyHost& host, StateReader in, Restore restore) noexcept {
  try {
    restore(in);
    in.expect_end();
  } catch (const std::bad_alloc&) {
    host.give_up(detail::current_failure());
  } catch (...) {
    host.give_up(of_restore(std::current_exception()));
  }
}

class Body {
 public:
  virtual ~Body() = default;

  // Runs a group in place: afterwards its slots are results, not yet sealed (seal.h). Stream bodies and sources are
  // called by one thread at a time and in order, others by several. Throws only RetryWhenMemoryIsFree, with the group
  // untouched: whatever else a user's code throws becomes a failed slot.
  // If the group's call is open (OpenCall), the body tells how far it has come, and gives back the inputs that it has
  // not begun as soon as others want them.
  virtual void run(Group& group, Context& context) = 0;

  // Where the results of an open call lie. Also with the stage's lock held, as can_produce(): both are quick and run no
  // user's code.
  virtual Slots& results_of(Group& group) const { return group.slots; }

  // Third form only: hands the single element over.
  virtual void start(Group&, Context&, Completion) {}

  // Bytes that the results will hold, where the op can tell.
  virtual std::optional<std::int64_t> bytes_hint(const Group&) const { return std::nullopt; }

  // Sources and merges: whether there is anything to produce now.
  virtual bool can_produce() const { return false; }

  // Merges. All five with the stage's lock held. The signs outlive the body.
  virtual void use_signs(MergeSigns&) {}
  virtual void arrive(std::size_t /*port*/, Slots&&) {}
  // Before each run: what has come since the last one is for this run. Returns its bytes.
  virtual std::int64_t take_arrivals() { return 0; }
  // After each run: the inputs of which it has taken something, or whose signs it has changed.
  virtual std::span<const std::size_t> changed_inputs() { return {}; }
  // Of a stopped run: moves a packet that nobody has used up to `to`, which is empty, as Inbox::let_go(). is_running:
  // some of them are with the run.
  virtual bool let_go(Slots& /*to*/, bool /*is_running*/) noexcept { return false; }

  virtual std::int64_t held_bytes() const { return 0; }

  // After run(), for a failure among the results: the number in its pass of the input that failed.
  virtual std::int64_t failed_input(const Group& group, std::size_t result) const {
    return group.place.first_ordinal + static_cast<std::int64_t>(group.taken + result);
  }

  // Of a source with a reader: the name of what an element of it was made of. Any thread; throws what the reader
  // throws.
  virtual std::string origin(const Stamp&) const { return {}; }

  // Before the first slot arrives: a stream op may say that it wants nothing at all.
  virtual void begin() {}

  // The run goes on behind the element with the stamp `last`: a source begins with the item that it was made of.
  virtual void resume_at(const Stamp&) {}
  // The same at a save point. Null: it hands those of its input on.
  virtual Resumes* resumes() noexcept { return nullptr; }
  // Whether its pass ended without that element having come by. Any thread.
  virtual bool has_missed_resumption() const noexcept { return false; }
};

// Calls an ElementwiseOp for each stretch of elements; errors and marks between them stay where they are.
class ElementwiseBody final : public Body {
 public:
  // borrows: its inputs may refer to values of the source, and its results must not.
  // depth: repeats upstream. An op that has a state is told of marks, too (StagePlan::has_state).
  explicit ElementwiseBody(std::shared_ptr<const ElementwiseOp> op, bool borrows = false, std::size_t depth = 0)
      : op_(std::move(op)), borrows_(borrows), depth_(depth), passes_(*op_) {}
  void run(Group& group, Context& context) override;
  void start(Group& group, Context& context, Completion completion) override;
  std::optional<std::int64_t> bytes_hint(const Group& group) const override;

 private:
  std::size_t run_stretch(Group& group, std::span<Slot> stretch, Context& context);
  void take_mark(Slot& slot);

  std::shared_ptr<const ElementwiseOp> op_;
  const bool borrows_;
  const std::size_t depth_;
  ElementwisePasses passes_;
};

// Feeds a StreamState, slot by slot, and keeps the books of its passes.
class StreamBody final : public Body, private Emitter {
 public:
  StreamBody(std::unique_ptr<StreamState> state, std::size_t stage, std::size_t depth, BodyHost& host,
             const StreamSaves::Traits& traits = {});
  void run(Group& group, Context& context) override;
  std::int64_t held_bytes() const override { return held_.bytes() + saves_.held_bytes(); }
  Slots& results_of(Group& group) const override { return group.results; }
  std::int64_t failed_input(const Group& group, std::size_t result) const override;
  void begin() override;
  Resumes* resumes() noexcept override { return &saves_; }

 private:
  void emit(Element value, const Stamp& stamp) override {
    saves_.note_output();
    add(Slot(std::move(value), stamp));
  }
  void forward(Slot&& slot) override { forward_late(std::move(slot), input_); }
  void forward_late(Slot&& slot, std::int64_t number) override;
  std::int64_t input_number() const override { return input_; }
  void drop_error(Slot&&) override { host_.count_dropped(stage_, 1); }
  void end_pass() override;

  void add(Slot&& slot);
  void grow();
  void add_failure(const Stamp& stamp);
  bool go_on();
  bool flush(const Slot& mark, Group& group);
  void take(Slot&& slot);
  void take_item(Slot&& slot);
  void give_save_point(const Stamp& pass, std::int64_t next);
  void take_mark(Slot&& mark);
  void begin_pass(const Stamp& stamp);
  void close_pass();
  template <class Call> void guarded(const Stamp& stamp, Call&& call);

  std::unique_ptr<StreamState> state_;
  const std::size_t stage_;
  const std::size_t depth_;
  BodyHost& host_;
  Slots early_;               // what came before the first group
  Slots* out_ = &early_;      // or the results of the group being run
  OpenCall* call_ = nullptr;  // of that group, if others look at it
  struct Failure {
    std::size_t result;
    std::int64_t input;
  };
  std::vector<Failure> failures_;  // of the group being run, and before it of the first pass's beginning
  std::vector<Failure> reported_;  // of the group that was run last
  bool is_between_passes_ = false;
  std::int64_t input_ = 0;      // number in its pass of the slot being read
  std::uint64_t sequence_ = 0;  // of the pass being read
  // the mark with this sequence has gone on already: what still comes of those passes is left out
  std::int64_t closed_until_ = -1;
  bool wants_nothing_ = false;
  HeldBytes held_;
  StreamSaves saves_;
};

// The part of an endless repeat that is not in PassControl: a pass that gave nothing ends it. Counting repeats need no
// stage.
class RepeatBody final : public Body, private Resumes {
 public:
  // place: of the op in the user's code, for a warning.
  RepeatBody(std::size_t stage, std::size_t depth, BodyHost& host, std::string place = {})
      : stage_(stage), depth_(depth), host_(host), place_(std::move(place)) {}
  void run(Group& group, Context& context) override;
  void resume_at(const Stamp&) override { gave_something_ = true; }
  Resumes* resumes() noexcept override { return this; }

 private:
  std::vector<SavePointRef> resume_from(const SavePointRef& here) override;
  bool keep(Slot& slot);
  void tell_whether_it_gave(Slot& save_point) const;
  bool keep_mark(const Slot& mark);
  void warn();

  const std::size_t stage_;
  const std::size_t depth_;  // repeats upstream, without this one
  BodyHost& host_;
  const std::string place_;
  bool has_warned_ = false;
  bool gave_something_ = false;
  bool ended_ = false;  // an empty pass was seen: everything up to the mark of the next level is left out
};

// Where a chain begins: positions with the order of a pass, or a reader.
struct SourceParts {
  std::unique_ptr<SourceReader> reader = nullptr;  // null: positions
  std::shared_ptr<const IndexedSource> source = nullptr;
  std::unique_ptr<IndexSequence> order = nullptr;
  // elements may refer to the source's values: whoever gets them is done with them before the run is
  bool lends = false;
  std::uint16_t number = 0;  // Stamp::source of its elements
};

class SourceBody final : public Body, private Resumes {
 public:
  SourceBody(SourceParts parts, PassControl& passes, BodyHost& host);
  void run(Group& group, Context& context) override;
  bool can_produce() const override { return !passes_.idle(); }
  std::string origin(const Stamp& element) const override;
  std::int64_t failed_input(const Group& group, std::size_t result) const override;
  void resume_at(const Stamp& last) override;
  Resumes* resumes() noexcept override { return this; }

 private:
  std::vector<SavePointRef> resume_from(const SavePointRef& here) override;
  bool has_missed() const noexcept override { return missed_; }
  bool may_read(const PassControl::Pass& pass, Slots& out, Context& context);
  bool read(Group& group, std::size_t wanted, Context& context);
  bool produce_one(Slots& out, Context& context);
  bool has_position();
  bool produce_chosen(Slots& out);
  bool produce_next(Slots& out, Context& context);
  bool begin_reading(const Stamp& pass, Slots& out, Context& context);
  void pass_over_delivered();
  bool leave_out_delivered(Slots& slots, bool has_one);
  bool is_to_resume_at(const Slot& slot) const;
  void go_to_save_point(Context& context);
  void skip(const SlotCount& positions, Context& context);
  bool is_save_point_due(bool begins_pass) const;
  void give_save_point(Slots& out);

  SourceParts parts_;
  PassControl& passes_;
  BodyHost& host_;
  Stamp at_;          // the element to be made next
  struct Positions {  // that come next, as far as they are known
    std::array<std::int64_t, 64> list{};
    std::size_t size = 0, given = 0;
    std::int64_t last = 0;  // of those given: an order that fails does so behind it
  } positions_;
  std::optional<Stamp> resume_;

  // Where it goes on, or gives save points.
  SlotCount given_;           // of the pass
  bool is_resumed_ = false;   // in the pass that comes first,
  SlotCount goes_on_behind_;  // where so many had been given
  std::optional<std::string> reader_state_;
  LeftOut again_;  // of these, what a reader has to read again
  SaveClock saved_;
  SavePace pace_;
  std::atomic<bool> missed_{false};
};

}  // namespace penstock::exec
