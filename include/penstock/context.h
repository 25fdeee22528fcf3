// Context: what a user's function, or the body of an op, may ask while it works on an element: random numbers, the
// element's place, whether it is still wanted, memory; and Outputs, where its results will lie in the next batch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include <penstock/random.h>
#include <penstock/slot.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock {

namespace detail {
class ContextServices {
 public:
  virtual ~ContextServices() = default;
  virtual std::string origin(const Stamp& stamp) const = 0;
  virtual bool try_reserve(std::int64_t bytes, bool may_refuse) = 0;
  // `is_stopped`: what the context knows itself
  virtual bool is_unwanted(bool is_stopped) const noexcept { return is_stopped; }
  virtual void count_dropped(std::int64_t errors) noexcept { static_cast<void>(errors); }
  virtual std::int64_t memory_budget() const noexcept { return std::numeric_limits<std::int64_t>::max(); }
};

// Who knows in which rows of the batches to come results lie. A turn is an input's position in the stage.
class OutputRows {
 public:
  virtual ~OutputRows() = default;
  virtual std::int64_t enter(const Slot& input) noexcept = 0;  // its turn
  virtual void declare(std::int64_t turn, std::size_t count) noexcept = 0;
  virtual Tensor row(std::int64_t turn, std::size_t i, DType type, const Shape& shape) = 0;
};

// How far a call over several slots has come. The engine looks at it while the call goes on.
struct CallProgress {
  std::atomic<std::size_t> answered{0};  // slots, from the first: they may leave
  std::atomic<bool> is_wanted_back{
      false};  // what has not begun: stop is asked for, or other threads have nothing to do
};

// Thrown by Context::reserve to have the element tried again when memory is free. Never seen by users.
struct RetryWhenMemoryIsFree {
  std::size_t bytes;
};
}  // namespace detail

// Places for a body's results: a tensor that is written where it will lie in the next batch is never copied.
//
//   auto batches = pictures.map([](const ps::Tensor& picture, ps::Context& context) {
//     context.outputs().declare(1);
//     ps::Tensor out = context.outputs().slot(0, ps::DType::u8, {224, 224, 3});
//     ps::image::resize(ps::image::view_of(picture), {224, 224}, out.values<std::uint8_t>());
//     return out;                                   // or a struct that has it in one of its ps::Fields
//   }).batch(128);
//
// What slot() gives is a row of the next batch where nothing but unbatch(), ignore_errors(), prefetch() and repeat()
// stands between the op and batch(n), and the numbers of all earlier elements are known: they have declared (do it
// early), or ElementwiseOp::outputs_of tells. Any other op between ends it, and so does an op that is Order::arbitrary
// or has passes_memory_on() (filter). Else it is scratch memory, which batch() copies: batches are the same either way.
// Wrong numbers, failed and dropped elements cost some copies and nothing else. A result that has several tensors asks
// for slot(i) once for each, in types or shapes that differ: a second one of the same type and shape is scratch memory,
// and copied. A row that is kept keeps the memory of its whole batch. What batches copy is counted
// (RunStats::copied_bytes); Run::explain() names the op that ended this where that is much.
class Outputs {
 public:
  Outputs() noexcept = default;
  Outputs(detail::OutputRows* rows, std::int64_t turn) noexcept : rows_(rows), turn_(turn) {}

  // How many results this element gives; call it as soon as it is known, before slot().
  void declare(std::size_t count) noexcept {
    declared_ = count;
    if (rows_ != nullptr) rows_->declare(turn_, count);
  }
  std::size_t declared() const noexcept { return declared_; }

  // Memory for result i, not initialised; aligned to 64 bytes if shape and type make a multiple of that. It is the
  // result's alone: hand it on as result i, and write to it no more. Error(invalid_argument) if i >= declared().
  Tensor slot(std::size_t i, DType type, const Shape& shape) const;

  // Bytes of the whole batch in which the row lies; 0: it is scratch memory. Where a batch is larger than the caches,
  // it pays to write past them.
  static std::size_t batch_bytes(const Tensor& row) noexcept;

 private:
  detail::OutputRows* rows_ = nullptr;  // null: results lie in scratch memory
  std::int64_t turn_ = -1;
  std::size_t declared_ = 0;
};

// The second argument of a user function `f(T, ps::Context&)`. Valid during the call only, on its thread only.
//
//   auto crops = pictures.map([](const ps::Tensor& image, ps::Context& context) { return random_crop(image,
//   context.rng()); });
class Context {
 public:
  Context(std::stop_token stop, std::uint64_t seed, detail::ContextServices* services = nullptr,
          detail::OutputRows* rows = nullptr) noexcept
      : stop_(std::move(stop)), seed_(seed), services_(services), rows_(rows) {}
  Context(const Context&) = delete;  // what a copy is told, nobody would hear
  Context& operator=(const Context&) = delete;

  // Set when the run is being abandoned: long functions should look at it and return or throw. In a source's function
  // also when its pass is not wanted any more, because a take() behind it has enough or the consumer has left the
  // epoch. A function of a run inside this call that leaves something out because of it should ask is_unwanted(): then
  // its run does not pass for whole.
  const std::stop_token& stop_token() const noexcept { return stop_; }

  // Whether nobody will ever see what this call gives: the run is being abandoned, or a take() behind has enough. What
  // a long function then returns or throws does not matter.
  bool is_unwanted() const noexcept {
    const bool is_stopped = stop_.stop_requested();
    return services_ != nullptr ? services_->is_unwanted(is_stopped) : is_stopped;  // they note what may be left out
  }

  // Random numbers for this element: the same for any number of threads and ranks, new in each epoch and pass.
  CounterRng rng() const noexcept { return make_rng(seed_, stamp_.epoch, stamp_.pass, stamp_.ordinal, stamp_.sub); }

  std::uint32_t epoch() const noexcept { return stamp_.epoch; }
  std::int64_t ordinal() const noexcept { return stamp_.ordinal; }  // position in the source
  const Stamp& stamp() const noexcept { return stamp_; }
  std::string origin() const;  // the source item's name (a file), "" if it has none

  // Says that the call is about to hold `bytes` more than foreseen. If the memory budget has no room, a call over a
  // single element is broken off by an exception and tried again later, so call it before anything that must not happen
  // twice. Do not catch it.
  // Needs a map whose function takes its element by const reference (the input must survive) and is const (so must its
  // state). Otherwise, and where elements share a call because they are cheap
  // ({.blocks = true}: they never do), it only counts, as overshoot. More than 2^47 bytes (128 TiB) count as that many.
  // What exceeds the whole budget goes ahead when nothing before it is left to wait for.
  void reserve(std::size_t bytes);

  // Bytes that the whole run may hold (RunOptions::memory_bytes); a very large number where there is no limit.
  std::int64_t memory_budget() const noexcept {
    return services_ == nullptr ? std::numeric_limits<std::int64_t>::max() : services_->memory_budget();
  }

  Outputs& outputs() noexcept { return outputs_; }

  // For authors of ops that run a span one element after the other; call it between two of them. The first `answered`
  // slots have their answers and will not be touched any more, so they may leave while the call goes on: an element
  // that is done does not wait for others that take long. False: return at once, and leave the slots behind them as
  // they came; they will be run by another call, or are not wanted any more. An op that never calls it keeps its whole
  // span until run() returns. Costs about a nanosecond.
  //
  // Its loop, for slots 0, 1, ... of the span:
  //  while (i < slots.size() && context.go_on(i))  answer slots[i], and go on to the next
  //
  bool go_on(std::size_t answered) noexcept {
    if (progress_ == nullptr || answered == 0) return true;
    if (!lent_.empty()) own(answered);
    progress_->answered.store(base_ + answered, std::memory_order_release);
    if (!progress_->is_wanted_back.load(std::memory_order_relaxed)) [[likely]]
      return true;
    stopped_ = true;
    return false;
  }

  // For the engine: what follows is a span whose first slot is the `base`-th of the call. `lent`: the same span, if its
  // answers may refer to values of the source, and are to own them before they leave.
  void follow(detail::CallProgress* progress, std::size_t base, std::span<Slot> lent) noexcept {
    progress_ = progress;
    base_ = base;
    lent_ = lent;
    stopped_ = false;
  }
  // Of the span: as go_on() was told.
  std::size_t answered() const noexcept {
    const std::size_t told = progress_ == nullptr ? 0 : progress_->answered.load(std::memory_order_relaxed);
    return told > base_ ? told - base_ : 0;
  }
  bool was_stopped() const noexcept { return stopped_; }  // go_on() has said false

  // Errors that an ignore_errors() has left out in a dataset that the call reads.
  void count_dropped(std::int64_t errors) noexcept {
    if (services_ != nullptr) services_->count_dropped(errors);
  }

  // For authors of ops: call it before each element of a span.
  void enter(const Slot& slot, bool may_retry = false) noexcept {
    stamp_ = slot.stamp;
    may_retry_ = may_retry;
    outputs_ = rows_ == nullptr ? Outputs() : Outputs(rows_, rows_->enter(slot));
  }

 private:
  void own(std::size_t end) noexcept;

  std::stop_token stop_;
  std::uint64_t seed_;
  detail::ContextServices* services_;
  detail::OutputRows* rows_;
  Stamp stamp_;
  Outputs outputs_;
  bool may_retry_ = false;
  bool stopped_ = false;
  detail::CallProgress* progress_ = nullptr;  // none: nobody looks
  std::size_t base_ = 0;
  std::span<Slot> lent_;
};

}  // namespace penstock

#pragma GCC visibility pop
