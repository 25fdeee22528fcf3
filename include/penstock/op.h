// How an op is written: by the library in ops/, and by users outside it, through the same interface.
//
// An op is an immutable description (name, parameters, cardinality) plus what it does with data. Four kinds:
//
//  ElementwiseOp   1 -> 0..n elements, calls may run in parallel      map, filter, unbatch, decode
//  StreamOp        serial and stateful, sees elements and pass ends   shuffle buffer, batch, take
//  SourceOp        makes elements, pass by pass                       file list, vector, range
//  MergeOp         several inputs, serial                             zip, concatenate, sample_from
//
// The body of an ElementwiseOp has one of three forms (Form): it computes, it blocks, or it starts now and completes
// later from any thread. The engine owns threads, order, buffers, errors and counting; an op never sees them.
//
// An op of your own goes into a chain by then() (examples/custom_op.cc has two such ops). It must take the dataset's
// type and give the one that then() is told: elements are untyped here, so that is only looked at while they pass, and
// a wrong one is an error element.
//   ps::Dataset<std::string> words = lines.then<std::string>(std::make_shared<SplitWords>());
//
// What a body reads and answers is in slot.h, with the words that are used here; what it may ask meanwhile in
// context.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/context.h>
#include <penstock/element.h>
#include <penstock/error.h>
#include <penstock/slot.h>
#include <penstock/state.h>
#include <penstock/tunable.h>

#pragma GCC visibility push(default)

namespace penstock {

// ------------------------------------------------------------------------------------------------ facts about a graph

// tf.data's codes for a count that is not a number.
inline constexpr std::int64_t INFINITE_CARDINALITY = -1;
inline constexpr std::int64_t UNKNOWN_CARDINALITY = -2;

// What is known of a stream before it runs.
struct Flow {
  std::int64_t cardinality = UNKNOWN_CARDINALITY;  // elements per epoch, or one of the codes above
  // rows in every element (after batch with drop_remainder), if fixed
  std::int64_t leading_dimension = UNKNOWN_CARDINALITY;
};

// ------------------------------------------------------------------------------------------------ ops

// Base of all ops: what is true of it without running it. Const members are called from any thread.
class Op {
 public:
  virtual ~Op() = default;
  virtual std::string name() const = 0;                  // "map"
  virtual std::string parameters() const { return {}; }  // "buffer_size=1000, seed=7": for describe() and fingerprints
  // What leaves the op, given what enters it. May throw Error(invalid_argument) if the op cannot stand behind such an
  // input.
  virtual Flow flow(const Flow& input) const = 0;
};
using OpRef = std::shared_ptr<const Op>;

// How a body spends its time, and so where it runs.
enum class Form : std::uint8_t {
  computes,         // on a CPU slot
  blocks,           // on a thread of the elastic pool: reads files, sleeps, waits
  completes_later,  // start() returns at once; the result comes through a Completion from any thread
};

// Whether results leave in the order of their inputs.
enum class Order : std::uint8_t { kept, arbitrary };

// Whether an op knows how many results an element gives, which later elements of the batch need to know for their
// places.
enum class Declares : std::uint8_t {
  whenever,  // outputs_of() tells, or the body calls Outputs::declare() when it gets to it, or never
  one_each,  // each element gives one result, or fails: nobody has to wait
};

// The answer of a body of the third form. Move-only. Exactly one of complete / fail counts; a Completion that is
// destroyed without either gives an error element; one that is used after the run has ended does nothing. Any thread.
class Completion {
 public:
  class Target {
   public:
    virtual ~Target() = default;
    virtual void finish(Slot::Kind kind, Element value) noexcept = 0;
  };

  explicit Completion(std::shared_ptr<Target> target) noexcept : target_(std::move(target)) {}
  Completion(Completion&&) noexcept = default;
  Completion& operator=(Completion&&) = delete;
  ~Completion();

  void complete(Element value) noexcept;            // one result
  void complete_many(std::vector<Element> values);  // none or several
  void fail(std::exception_ptr error) noexcept;

 private:
  std::shared_ptr<Target> target_;
};

// Runs the elements of one pass, one call at a time and in their order; see ElementwiseOp::open.
class ElementwiseState {
 public:
  virtual ~ElementwiseState() = default;
  virtual void run(std::span<Slot> slots, Context& context) = 0;
};

// 1 -> 0..n. `run` and `start` are const and may be called from several threads at once: be stateless or thread-safe.
// Throwing from run() fails every element of the span: answer each by itself, slot.fail(std::current_exception()).
class ElementwiseOp : public Op {
 public:
  virtual Form form() const { return Form::computes; }
  virtual bool form_is_known() const {
    return true;
  }  // false: form() is a guess, the controller may find that it blocks
  virtual Tunable parallelism() const { return AUTOTUNE; }
  // False: calls must not overlap. There is one at a time then, whatever parallelism() says, and no knob moves that.
  virtual bool is_reentrant() const { return true; }
  virtual Order order() const { return Order::kept; }

  // Computes or blocks: answer every slot of the span. Cheap ops get many slots a call, dear ones a single one.
  virtual void run(std::span<Slot> slots, Context& context) const;

  // For an op whose calls change something of its own: has_state() is true, and what open() gives runs the elements in
  // place of run(), one call at a time, whatever parallelism() says. It is asked for a new one for each pass of each
  // run, so what a pass gives does not depend on what ran before it. A null pointer fails the elements of that pass
  // (unimplemented), and so does what it throws.
  // A run that is resumed in the middle of a pass runs that pass again from its start. Not for an op that completes
  // later: refused where the graph is built.
  virtual bool has_state() const { return false; }
  virtual std::unique_ptr<ElementwiseState> open() const { return nullptr; }

  // Completes later: hand the element to whatever does the work, and return. As many may be out at once as
  // parallelism() says: a service that bears only so many wants a number, or Tunable::between(1, most). AUTOTUNE begins
  // with four, stays within RunOptions::open_io until so many are answered no slower than a few, and then at most
  // doubles at a time, up to 4,096.
  virtual void start(Element value, Context& context, Completion completion) const;

  // Whether one element may become several. Maps and filters say no, which lets a checkpoint behind a batch be a
  // position.
  virtual bool may_fan_out() const { return true; }

  virtual Declares declares() const { return Declares::whenever; }

  // How many results `input` will give, as Outputs::declare() would say it, where the input tells: places of later
  // elements are then known before it is run. Called once an element with a lock of the stage held: be quick, below a
  // microsecond, and never wait. A wrong number costs copies; an exception is as good as nullopt.
  virtual std::optional<std::size_t> outputs_of(const Element& input) const;

  // Whether results hold nothing but memory that the input held already, as those of filter and unbatch do: none is
  // reserved for them then, and none is counted twice.
  virtual bool passes_memory_on() const { return false; }

  // Bytes that the result of `input` will hold, if that can be told cheaply beforehand (a file's size, a JPEG's
  // header). If it is right, the budget is passed only by what each stage may begin without room: an element, or some
  // small ones.
  virtual std::optional<std::size_t> bytes_hint(const Element& input) const;

  // Bytes of every result, where its type alone tells them (has_fixed_bytes), and each input becomes at most one; 0: it
  // does not. As many calls as there may be then begin at once: of other ops that compute or block and have no hint
  // only one begins before the first result, and one more now and then (options.h).
  virtual std::size_t result_bytes() const { return 0; }
};

// What a StreamState answers through. Not thread-safe: use it only during the call.
class Emitter {
 public:
  virtual ~Emitter() = default;
  // A new element. Its stamp is that of the input which it comes from, or of the last one that it is made of.
  virtual void emit(Element value, const Stamp& stamp) = 0;
  virtual void forward(Slot&& slot) = 0;  // passes a slot on as it is: an error, or an element that is kept
  // For an error that is told later than its element came: `number` is what input_number() said then.
  virtual void forward_late(Slot&& slot, std::int64_t number) {
    static_cast<void>(number);
    forward(std::move(slot));
  }
  // Which input of the pass this call is about. In the pass in which a run is resumed they count from the place where
  // it begins to read.
  virtual std::int64_t input_number() const { return 0; }
  virtual void drop_error(Slot&&) {}  // leaves an error out for good: RunStats::dropped counts it
  // Nothing more of this pass is wanted. pass_end() follows at once, and the pass ends for all that comes behind,
  // however long the stages before are in ending theirs.
  virtual void end_pass() = 0;
};

// The state of a StreamOp in one run. Called by one thread at a time, in order. For each element it may emit or forward
// none, one or several; one that it neither forwards nor keeps is left out. What a function throws becomes an error
// element in the place of its results. A state may refer to the op that has opened it: the op lives longer.
class StreamState {
 public:
  virtual ~StreamState() = default;
  virtual void begin_pass(Emitter&) {}  // before the first element of each pass
  virtual void element(Slot&& slot, Emitter& out) = 0;
  virtual void error(Slot&& slot, Emitter& out) { out.forward(std::move(slot)); }
  // When the pass has ended, again and again until it says false, and before pass_end(): gives some of what is held,
  // and tells whether more is left. What it has given leaves first, so that a large buffer does not lie in memory
  // twice. Not called where nobody wants the pass.
  virtual bool flush(Emitter&) { return false; }
  virtual void pass_end(Emitter&) {}                     // gives the rest; state for the next pass starts clean
  virtual std::int64_t held_bytes() const { return 0; }  // of elements kept inside
  // Between two inputs of a pass, at most a thousand times a second, for a hundredth of the time: writes what restore()
  // needs to go on there. False: it does not, and a run that is resumed in the middle of a pass runs that pass again
  // from its start.
  virtual bool save(StateWriter& out) const {
    static_cast<void>(out);
    return false;
  }
  // Behind begin_pass(), at the beginning of a run that is resumed: takes what save() wrote, in that order. What it
  // throws ends the run.
  virtual void restore(StateReader& in) { static_cast<void>(in); }
};

// Positions of an indexable source in the order in which a pass visits them: file 17, file 4, file 9, ...
class IndexSequence {
 public:
  virtual ~IndexSequence() = default;
  virtual void begin_pass(std::uint32_t epoch, std::uint32_t pass) = 0;
  virtual std::optional<std::int64_t> next() = 0;  // nullopt: the pass has ended
  // What the next calls of next() would give, written to `positions`, which are not empty: how many, at least one
  // unless the pass has ended. Overriding it saves some 10 ns a position. Whoever throws has written none, so override
  // it where only the first can throw.
  virtual std::size_t next_few(std::span<std::int64_t> positions) {
    const auto position = next();
    if (position) positions.front() = *position;
    return position ? 1 : 0;
  }
  virtual void skip(std::int64_t count) {  // override where it can be O(1)
    while (count-- > 0 && next()) {
    }
  }
  // The position that the i-th next() of this pass gives, 0 <= i < size(), where that is O(1); nullopt: it is not.
  virtual std::optional<std::int64_t> at(std::int64_t) const { return std::nullopt; }
  // The i for which at(i) is `position`, size() where there is none, if that is cheap; nullopt: it is not. A resumed
  // run asks.
  virtual std::optional<std::int64_t> find(std::int64_t position) const {
    static_cast<void>(position);
    return std::nullopt;
  }
  virtual std::int64_t size() const = 0;  // per pass
};

// Serial and stateful.
class StreamOp : public Op {
 public:
  // Whether its state computes, or waits for something (a lock, a file): then it blocks, and holds no CPU slot
  // meanwhile. Unknown: the controller finds out.
  virtual Form form() const { return Form::computes; }
  virtual bool form_is_known() const { return false; }
  // One per run. What it throws, or a null pointer, fails every request of the run with an Error that names the op.
  virtual std::unique_ptr<StreamState> open(std::uint64_t seed) const = 0;
  // The same op over positions instead of elements, if it only selects and orders; it then runs before anything is
  // read.
  virtual std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const;
  // That it must hold to make progress; the largest std::int64_t: all of a pass. A run whose ops must hold more than
  // its memory budget says so once, and reads nothing ahead.
  virtual std::int64_t elements_held() const { return 1; }
  virtual std::int64_t bytes_of_place() const { return 0; }  // that it needs for each of them beside what values hold
  // Whether the state is as new right after each output, so that a run can be resumed there by position alone (batch).
  // An output must then bear the stamp of the last slot that was read, be that an element or an error.
  virtual bool is_as_new_after_output() const { return false; }
};

// What a MergeState needs next.
struct Want {
  enum class Kind : std::uint8_t {
    one,      // a slot of `input`
    all,      // a slot of each input: if one has no more, the pass has ended
    own,      // no input: it has something to give by itself
    nothing,  // the pass has ended
  };
  Kind kind = Kind::nothing;
  std::size_t input = 0;

  static Want one(std::size_t input) { return {Kind::one, input}; }
  static Want all() { return {Kind::all}; }
  static Want own() { return {Kind::own}; }
  static Want nothing() { return {}; }
};

// The state of a MergeOp in one run. Called by one thread at a time. It says which input it wants a slot of and gets
// one, in that input's order, or is told that the input has ended in this pass. So what it gives depends only on what
// it is given, never on which input was quicker. What a function throws becomes an error element.
class MergeState {
 public:
  virtual ~MergeState() = default;
  virtual void begin_pass(const Stamp& pass) = 0;  // before anything of a pass: a stamp of no element
  // Asked after each of the other functions; the same until one of them is called.
  virtual Want want() const = 0;
  // An element or an error of an input that is wanted. Where all are wanted: of the first input, then of the second,
  // ... Results leave when nothing more is there to take, or there is no room for more: do not wait here for what the
  // consumer does with them.
  virtual void take(std::size_t input, Slot&& slot, Emitter& out) = 0;
  // The one input that is wanted has no more in this pass: want() then wants something else. An op that goes on to want
  // what has ended gets an error in place of the rest of its pass.
  virtual void ended(std::size_t input, Emitter& out) = 0;
  // Gives something, where want() says own(): an element, or some. An op that gives nothing then gets an error in place
  // of the rest of its pass.
  virtual void give(Emitter& out) { static_cast<void>(out); }
  virtual std::int64_t held_bytes() const { return 0; }  // of elements kept inside, as of a StreamState
  // Whether it is worth reading ahead in this input, as far as is known now. Of the wanted one and some behind it that
  // is asked whenever another one is wanted; of all others when a pass or an input has ended, and now and then.
  virtual bool soon(std::size_t input) const noexcept {
    static_cast<void>(input);
    return true;
  }
  // As those of a StreamState, between two of the other functions. Nothing can be held().
  virtual bool save(StateWriter& out) const {
    static_cast<void>(out);
    return false;
  }
  virtual void restore(StateReader& in) { static_cast<void>(in); }
};

// Several inputs, one output. An input goes to its next pass when the merge's pass has ended, also from the middle of
// its own: what is left of it then is left out. Passes of the merge are those that repeats behind it ask for.
class MergeOp : public Op {
 public:
  // What leaves the op, given what enters it by each input. May throw Error(invalid_argument).
  virtual Flow flow_of(std::span<const Flow> inputs) const = 0;
  Flow flow(const Flow& input) const final { return flow_of({&input, 1}); }
  // One per run. What it throws, or a null pointer, fails every request of the run with an Error that names the op.
  virtual std::unique_ptr<MergeState> open(std::size_t inputs) const = 0;
};

// A source whose elements can be made in any order: ps::from_indexed() (sources.h) makes a dataset of it.
class IndexedSource {
 public:
  virtual ~IndexedSource() = default;
  virtual std::int64_t size() const = 0;
  // Any thread. May refer to the source's own memory (Element::referring_to): the engine
  // copies the value before anybody gets the element who could keep it.
  virtual Element at(std::int64_t index) const = 0;
  virtual std::string origin(std::int64_t) const { return {}; }  // its name, for error texts; must not wait
};

// A running source. Called by one thread at a time.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  virtual void begin_pass(std::uint32_t epoch, std::uint32_t pass) = 0;
  // The next element and its ordinal; nullopt at the end of the pass. An exception becomes an error element and the
  // pass goes on.
  virtual std::optional<Element> next(Context& context) = 0;
  // The name of what an element was made of (a file), for error texts; "" if it has none. Of one that next() has given
  // or failed to give, in this pass or the one before. Any thread, also while another one is in next(); must not wait.
  virtual std::string origin(const Stamp& element) const {
    static_cast<void>(element);
    return {};
  }
  // As those of a StreamState, between two elements: so that a run that is resumed need not read the pass again up to
  // there. `given`: so many were given of the pass, failures among them. A source that cannot read again what it gave
  // (a pipe) must have them: else a resumed run takes the next ones for those, and leaves them out. Say readers_save().
  virtual bool save(StateWriter& out) const {
    static_cast<void>(out);
    return false;
  }
  virtual void restore(StateReader& in, std::int64_t given) {
    static_cast<void>(in);
    static_cast<void>(given);
  }
};

// Makes elements. Either indexable (indexed() is not null) or read in order.
class SourceOp : public Op {
 public:
  // Whether making an element computes, or waits (for a socket, a file, a queue): then it blocks, and holds no CPU slot
  // meanwhile. Unknown: the controller finds out, within some elements that take long.
  virtual Form form() const { return Form::computes; }
  virtual bool form_is_known() const { return indexed() != nullptr; }
  virtual const IndexedSource* indexed() const { return nullptr; }
  // Whether its readers save(). Where a run can be resumed by the number of elements alone (maps and batches behind the
  // source), that is done else, and what the reader gives up to there is read again and left out.
  virtual bool readers_save() const { return false; }
  virtual std::unique_ptr<SourceReader> open()
      const = 0;  // one per run; may be null if indexed. Errors as StreamOp::open
};

}  // namespace penstock

#pragma GCC visibility pop
