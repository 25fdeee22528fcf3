// How an op is written: by the library in ops/, and by users outside it, through the same interface.
//
// An op is an immutable description (name, parameters, cardinality) plus what it does with data. Three kinds:
//
//  ElementwiseOp   1 -> 0..n elements, calls may run in parallel      map, filter, unbatch, decode
//  StreamOp        serial and stateful, sees elements and pass ends   shuffle buffer, batch, take
//  SourceOp        makes elements, pass by pass                       file list, vector, range
//
// The body of an ElementwiseOp has one of three forms (Form): it computes, it blocks, or it starts now and completes
// later from any thread. The engine owns threads, order, buffers, errors and counting; an op never sees them.
//
// An op of your own goes into a chain by then() (examples/custom_op.cc has two such ops). It must take the dataset's type and give
// the one that then() is told: elements are untyped here, and nobody checks that.
//   ps::Dataset<std::string> words = lines.then<std::string>(std::make_shared<SplitWords>());
//
// Vocabulary. An *epoch* is what one `for` loop over a dataset delivers. A *pass* is one run through the source; an
// epoch has several where the pipeline holds a repeat. Ordinals and passes count from 0.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/element.h>
#include <penstock/error.h>
#include <penstock/random.h>
#include <penstock/tensor.h>
#include <penstock/tunable.h>

#pragma GCC visibility push(default)

namespace penstock {

// ------------------------------------------------------------------------------------------------ facts about a graph

// tf.data's codes for a count that is not a number.
inline constexpr std::int64_t INFINITE_CARDINALITY = -1;
inline constexpr std::int64_t UNKNOWN_CARDINALITY = -2;

// What is known of a stream before it runs.
struct Flow {
  std::int64_t cardinality = UNKNOWN_CARDINALITY;        // elements per epoch, or one of the codes above
  std::int64_t leading_dimension = UNKNOWN_CARDINALITY;  // rows in every element (after batch with drop_remainder), if fixed
};

// ------------------------------------------------------------------------------------------------ one element under way

// Where an element comes from. It never depends on threads, so random numbers, error texts and checkpoints hang on it.
struct Stamp {
  std::uint32_t epoch = 0;
  std::uint32_t pass = 0;        // pass within the epoch
  std::uint32_t sequence = 0;    // pass within the run; only for the engine
  std::int64_t ordinal = 0;      // position in the source (of a file list: its line)
  std::uint64_t sub = 0;         // which of several elements made of that one: 0, or 1 + index; nested fan-outs are mixed

  Stamp child(std::uint64_t index) const noexcept {
    Stamp stamp = *this;
    stamp.sub = sub * 0x9E3779B97F4A7C15u + index + 1;
    return stamp;
  }
};

// One place in the stream: an element with its stamp, or what became of it. A body reads `value` and answers by one of
// emit, emit_many, drop, fail; answering nothing leaves the input as the output.
class Slot {
 public:
  enum class Kind : std::uint8_t { element, error, pass_end, dropped, many, failed };

  Slot() noexcept = default;
  Slot(Element element, const Stamp& at) : value(std::move(element)), stamp(at) {}

  Element value;
  Stamp stamp;

  template <class T> T take() { return value.take<T>(); }
  void emit(Element element) noexcept { value = std::move(element); }
  void drop() noexcept {
    value.reset();
    kind_ = Kind::dropped;
  }
  void emit_many(std::vector<Element> elements) {
    value = Element(std::move(elements));
    kind_ = Kind::many;
  }
  void fail(std::exception_ptr error) {
    value = Element(std::move(error));
    kind_ = Kind::failed;
  }

  // For the engine.
  Kind kind() const noexcept { return kind_; }
  void set_kind(Kind kind) noexcept { kind_ = kind; }
  bool is_element() const noexcept { return kind_ == Kind::element; }
  std::uint8_t level() const noexcept { return level_; }          // of a pass_end: how many repeats ended with it
  void set_level(std::uint8_t level) noexcept { level_ = level; }
  std::int64_t bytes() const noexcept { return bytes_; }          // charged to the memory budget
  void set_bytes(std::int64_t bytes) noexcept { bytes_ = bytes; }

 private:
  std::int64_t bytes_ = 0;
  Kind kind_ = Kind::element;
  std::uint8_t level_ = 0;
};

// ------------------------------------------------------------------------------------------------ what a body may ask

namespace detail {
class ContextServices {
 public:
  virtual ~ContextServices() = default;
  virtual std::string origin(std::int64_t ordinal) const = 0;
  virtual bool try_reserve(std::int64_t bytes, bool may_refuse) = 0;
};

// Who knows where results lie in the batches to come. A turn is an input's position in the stage.
class OutputPlaces {
 public:
  virtual ~OutputPlaces() = default;
  virtual std::int64_t enter(const Slot& input) noexcept = 0;  // its turn
  virtual void declare(std::int64_t turn, std::size_t count) noexcept = 0;
  virtual Tensor slot(std::int64_t turn, std::size_t i, DType type, const Shape& shape) = 0;
};

// Thrown by Context::reserve to have the element tried again when memory is free. Never seen by users.
struct RetryWhenMemoryIsFree {
  std::size_t bytes;
};
}  // namespace detail

// Places for a body's results: a tensor that is written where it will lie in the next batch is never copied.
//
//   pictures.map([](const Picture& picture, ps::Context& context) {
//     context.outputs().declare(1);
//     ps::Tensor out = context.outputs().slot(0, ps::DType::f32, {224, 224, 3});
//     resize(picture, out.values<float>());
//     return out;                                   // or a struct that has it in one of its ps::Fields
//   }).batch(128);
//
// Slots are places in batch memory where nothing but unbatch() and ignore_errors() is between the op and batch(n), order is kept,
// and the numbers of all earlier elements are known: they have declared (early), or ElementwiseOp::outputs_of tells. Else they
// are scratch memory, which batch() copies: batches are the same either way. Wrong numbers, failed and dropped elements cost some
// copies and nothing else. A result that has several tensors asks for slot(i) once for each, in types or shapes that differ.
class Outputs {
 public:
  Outputs() noexcept = default;
  Outputs(detail::OutputPlaces* places, std::int64_t turn) noexcept : places_(places), turn_(turn) {}

  // How many results this element gives; call it as soon as it is known, before slot().
  void declare(std::size_t count) noexcept {
    declared_ = count;
    if (places_ != nullptr) places_->declare(turn_, count);
  }
  std::size_t declared() const noexcept { return declared_; }

  // Memory for result i, not initialised; aligned to 64 bytes if shape and type make a multiple of that. It is the result's alone:
  // hand it on as result i, and write to it no more. Error(invalid_argument) if i >= declared().
  Tensor slot(std::size_t i, DType type, const Shape& shape) const;

  // Bytes of the whole batch in which the slot lies; 0: it is scratch memory. Where a batch is larger than the caches, it pays to
  // write past them.
  static std::size_t batch_bytes(const Tensor& slot) noexcept;

 private:
  detail::OutputPlaces* places_ = nullptr;  // null: results lie in scratch memory
  std::int64_t turn_ = -1;
  std::size_t declared_ = 0;
};

// The second argument of a user function `f(T, ps::Context&)`. Valid during the call only, on its thread only.
//
//   auto crops = pictures.map([](const ps::Tensor& image, ps::Context& context) { return random_crop(image, context.rng()); });
class Context {
 public:
  Context(std::stop_token stop, std::uint64_t seed, detail::ContextServices* services = nullptr,
          detail::OutputPlaces* places = nullptr) noexcept
      : stop_(std::move(stop)), seed_(seed), services_(services), places_(places) {}

  // Set when the run is being abandoned: long functions should look at it and return or throw.
  const std::stop_token& stop_token() const noexcept { return stop_; }

  // Random numbers for this element: the same for any number of threads and ranks, new in each epoch and pass.
  CounterRng rng() const noexcept { return make_rng(seed_, stamp_.epoch, stamp_.pass, stamp_.ordinal, stamp_.sub); }

  std::uint32_t epoch() const noexcept { return stamp_.epoch; }
  std::int64_t ordinal() const noexcept { return stamp_.ordinal; }  // position in the source
  const Stamp& stamp() const noexcept { return stamp_; }
  std::string origin() const;                                       // the source item's name (a file), "" if it has none

  // Says that the call is about to hold `bytes` more than foreseen. If the memory budget has no room, the call is broken off
  // by an exception and tried again later, so call it before anything that must not happen twice. Do not catch it.
  // Needs a function that takes its element by const reference (the input must survive); otherwise it only counts, as overshoot.
  // More than 2^47 bytes (128 TiB) count as that many. What exceeds the whole budget goes ahead when nothing before it is left to wait for.
  void reserve(std::size_t bytes);

  Outputs& outputs() noexcept { return outputs_; }

  // For authors of ops: call it before each element of a span.
  void enter(const Slot& slot, bool may_retry = false) noexcept {
    stamp_ = slot.stamp;
    may_retry_ = may_retry;
    outputs_ = places_ == nullptr ? Outputs() : Outputs(places_, places_->enter(slot));
  }

 private:
  std::stop_token stop_;
  std::uint64_t seed_;
  detail::ContextServices* services_;
  detail::OutputPlaces* places_;
  Stamp stamp_;
  Outputs outputs_;
  bool may_retry_ = false;
};

// ------------------------------------------------------------------------------------------------ ops

// Base of all ops: what is true of it without running it. Const members are called from any thread.
class Op {
 public:
  virtual ~Op() = default;
  virtual std::string name() const = 0;                       // "map"
  virtual std::string parameters() const { return {}; }       // "buffer_size=1000, seed=7": for describe() and fingerprints
  // What leaves the op, given what enters it. May throw Error(invalid_argument) if the op cannot stand behind such an input.
  virtual Flow flow(const Flow& input) const = 0;
};
using OpRef = std::shared_ptr<const Op>;

// How a body spends its time, and so where it runs.
enum class Form : std::uint8_t {
  computes,         // on a CPU slot of the compute arena
  blocks,           // on a thread of the elastic pool: reads files, sleeps, waits
  completes_later,  // start() returns at once; the result comes through a Completion from any thread
};

// Whether results leave in the order of their inputs.
enum class Order : std::uint8_t { kept, arbitrary };

// Whether an op knows how many results an element gives, which later elements of the batch need to know for their places.
enum class Declares : std::uint8_t {
  whenever,  // outputs_of() tells, or the body calls Outputs::declare() when it gets to it, or never
  one_each,  // each element gives one result, or fails: nobody has to wait
};

// The answer of a body of the third form. Move-only. Exactly one of complete / fail counts; a Completion that is destroyed
// without either gives an error element; one that is used after the run has ended does nothing. Any thread.
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

  void complete(Element value) noexcept;                        // one result
  void complete_many(std::vector<Element> values);              // none or several
  void fail(std::exception_ptr error) noexcept;

 private:
  std::shared_ptr<Target> target_;
};

// 1 -> 0..n. `run` and `start` are const and may be called from several threads at once: be stateless or thread-safe.
// Throwing from run() fails every element of the span: answer each by itself, slot.fail(std::current_exception()).
class ElementwiseOp : public Op {
 public:
  virtual Form form() const { return Form::computes; }
  virtual bool form_is_known() const { return true; }  // false: form() is a guess, the controller may find that it blocks
  virtual Tunable parallelism() const { return AUTOTUNE; }
  virtual Order order() const { return Order::kept; }

  // Computes or blocks: answer every slot of the span. Cheap ops get many slots a call, dear ones a single one.
  virtual void run(std::span<Slot> slots, Context& context) const;

  // Completes later: hand the element to whatever does the work, and return.
  virtual void start(Element value, Context& context, Completion completion) const;

  // Whether one element may become several. Maps and filters say no, which lets a checkpoint behind a batch be a position.
  virtual bool may_fan_out() const { return true; }

  virtual Declares declares() const { return Declares::whenever; }

  // How many results `input` will give, as Outputs::declare() would say it, where the input tells: places of later elements are
  // then known before it is run. Called once an element with a lock of the stage held: be quick, below a microsecond, and never
  // wait. A wrong number costs copies; an exception is as good as nullopt.
  virtual std::optional<std::size_t> outputs_of(const Element& input) const;

  // Whether results hold nothing but memory that the input held already, as those of filter and unbatch do: none is reserved
  // for them then, and none is counted twice.
  virtual bool passes_memory_on() const { return false; }

  // Bytes that the result of `input` will hold, if that can be told cheaply beforehand (a file's size, a JPEG's header).
  // With it, the memory budget is never overshot.
  virtual std::optional<std::size_t> bytes_hint(const Element& input) const;
};

// What a StreamState answers through. Not thread-safe: use it only during the call.
class Emitter {
 public:
  virtual ~Emitter() = default;
  virtual void emit(Element value, const Stamp& stamp) = 0;
  virtual void forward(Slot&& slot) = 0;   // passes an error on, untouched
  virtual void drop_error(Slot&&) {}       // leaves an error out for good: RunStats::dropped counts it
  virtual void end_pass() = 0;             // nothing more of this pass is wanted; pass_end() still follows
};

// The state of a StreamOp in one run. Called by one thread at a time, in order. What a function throws becomes an error element
// in the place of its results.
class StreamState {
 public:
  virtual ~StreamState() = default;
  virtual void begin_pass(Emitter&) {}                                       // before the first element of each pass
  virtual void element(Slot&& slot, Emitter& out) = 0;
  virtual void error(Slot&& slot, Emitter& out) { out.forward(std::move(slot)); }
  virtual void pass_end(Emitter&) {}                                         // flush; state for the next pass starts clean
  virtual std::int64_t held_bytes() const { return 0; }                      // of elements kept inside
};

// Positions of an indexable source in the order in which a pass visits them: file 17, file 4, file 9, ...
class IndexSequence {
 public:
  virtual ~IndexSequence() = default;
  virtual void begin_pass(std::uint32_t epoch, std::uint32_t pass) = 0;
  virtual std::optional<std::int64_t> next() = 0;                            // nullopt: the pass has ended
  virtual void skip(std::int64_t count) {                                    // override where it can be O(1)
    while (count-- > 0 && next()) {
    }
  }
  // The position that the i-th next() of this pass gives, 0 <= i < size(), where that is O(1); nullopt: it is not.
  virtual std::optional<std::int64_t> at(std::int64_t) const { return std::nullopt; }
  virtual std::int64_t size() const = 0;                                     // per pass
};

// Serial and stateful.
class StreamOp : public Op {
 public:
  virtual std::unique_ptr<StreamState> open(std::uint64_t seed) const = 0;   // one per run
  // The same op over positions instead of elements, if it only selects and orders; it then runs before anything is read.
  virtual std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const;
  // That it must hold to make progress; the largest std::int64_t: all of a pass. A run whose ops must hold more than its memory
  // budget says so once, and reads nothing ahead.
  virtual std::int64_t elements_held() const { return 1; }
  // Whether the state is as new right after each output, so that a run can be resumed there by position alone (batch). An output
  // must then bear the stamp of the last slot that was read, be that an element or an error.
  virtual bool is_as_new_after_output() const { return false; }
};

// A source whose elements can be made in any order.
class IndexedSource {
 public:
  virtual ~IndexedSource() = default;
  virtual std::int64_t size() const = 0;
  // Any thread. May refer to the source's own memory (Element::referring_to): a run keeps its source as long as its elements.
  virtual Element at(std::int64_t index) const = 0;
  virtual std::string origin(std::int64_t) const { return {}; }              // its name, for error texts; must not wait
};

// A running source. Called by one thread at a time.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  virtual void begin_pass(std::uint32_t epoch, std::uint32_t pass) = 0;
  // The next element and its ordinal; nullopt at the end of the pass. An exception becomes an error element and the pass goes on.
  virtual std::optional<Element> next(Context& context) = 0;
};

// Makes elements. Either indexable (indexed() is not null) or read in order.
class SourceOp : public Op {
 public:
  virtual const IndexedSource* indexed() const { return nullptr; }
  virtual std::unique_ptr<SourceReader> open() const = 0;                    // one per run; may be null if indexed
};

}  // namespace penstock

#pragma GCC visibility pop
