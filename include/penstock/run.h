// Run: one execution of a dataset. Iterator: its elements, in order.
//
// A run reads ahead on its own threads as far as buffers and the memory budget allow, from its first request on.
// Destroying it (or breaking out of a loop) stops it: calls that are running end, nothing new starts. Waiting for the
// longest running call is all that costs; one that lasts more than 3 s is named on stderr, with its element.
//
// One consumer: next(), next_for(), epoch(), checkpoint() and iteration belong to one thread at a time; a second one
// that comes meanwhile gets Error(failed_precondition), and the first goes on. knobs(), snapshot(),
// stats(), explain() and decisions() may be used from any thread meanwhile; knobs() counts as a request.
#pragma once

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/checkpoint.h>
#include <penstock/decision.h>
#include <penstock/element.h>
#include <penstock/explanation.h>
#include <penstock/graph.h>
#include <penstock/knob.h>
#include <penstock/options.h>
#include <penstock/snapshot.h>

#pragma GCC visibility push(default)

namespace penstock {

// What a run has done so far. Where all ops map one to one, elements seen = delivered + errors + dropped.
struct RunStats {
  std::int64_t delivered = 0;        // elements
  std::int64_t errors = 0;           // error elements that reached the consumer, thrown or skipped
  std::int64_t skipped = 0;          // of these, left out under RunOptions::on_error
  std::int64_t dropped = 0;          // by ignore_errors, also inside a dataset of an element
  std::int64_t overshoot_bytes = 0;  // taken beyond what was reserved, all calls together
  std::int64_t memory_peak = 0;      // most bytes held by elements, and reserved by calls, at once
  // Of tensors that did not lie in their places when batch() put them together; padded_batch() and its like copy all.
  std::int64_t copied_bytes = 0;
};

namespace detail {

// An untyped run; Run<T> and Iterator<T> are its typed faces. begin_epoch(), next(), and knobs() where the run begins
// by it, keep it alive until they return: functions of the pipeline, which may run meanwhile, may destroy a Run<T>.
class RunCore {
 public:
  enum class Status : std::uint8_t { element, timeout, end };

  virtual ~RunCore() = default;
  // Returns itself.
  virtual std::shared_ptr<RunCore> begin_epoch(std::uint32_t epoch) = 0;
  // Takes the next element. Throws ElementError in an element's place. A null deadline waits for ever.
  virtual Status next(Element& out, const std::chrono::steady_clock::time_point* deadline) = 0;
  virtual Checkpoint checkpoint() const = 0;
  virtual std::vector<Knob> knobs() = 0;
  virtual Snapshot snapshot() const = 0;
  virtual RunStats stats() const = 0;
  virtual Explanation explain() const = 0;
  virtual std::vector<Decision> decisions() const = 0;
};

std::shared_ptr<RunCore> start_run(const graph::NodeRef& node, const RunOptions& options);
std::shared_ptr<RunCore> start_loop(const graph::NodeRef& node);     // a run of the next epoch of loops over it
Element element_at(const graph::NodeRef& node, std::int64_t index);  // see Dataset::at()
[[noreturn]] void refuse_moved_run();                                // Error(failed_precondition)

// Compared in floating point: hours::max() does not fit the clock's own unit.
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_in(std::chrono::duration<Rep, Period> patience) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const Clock::time_point now = Clock::now();
  if (patience <= patience.zero()) return now;
  if (Seconds(patience) < Seconds(Clock::time_point::max() - now))
    return now + std::chrono::ceil<Clock::duration>(patience);
  return Clock::time_point::max();
}

}  // namespace detail

// The answer of next_for().
template <class T> struct Next {
  detail::RunCore::Status status = detail::RunCore::Status::end;
  std::optional<T> value;

  bool is_element() const noexcept { return value.has_value(); }
  bool timed_out() const noexcept { return status == detail::RunCore::Status::timeout; }
  bool at_end() const noexcept { return status == detail::RunCore::Status::end; }
};

// A move-only input iterator. *it is the current element; it may be moved from: auto batch = std::move(*it).
// ++it may throw ElementError; afterwards the iterator stands on nothing and ++it goes on behind the failed element.
template <class T> class Iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  explicit Iterator(std::shared_ptr<detail::RunCore> core) : core_(std::move(core)) { ++*this; }
  Iterator(Iterator&&) noexcept = default;
  Iterator& operator=(Iterator&&) noexcept = default;

  T& operator*() const { return current_.template get<T>(); }
  T* operator->() const { return &current_.template get<T>(); }
  Iterator& operator++() {
    current_.reset();
    at_end_ = core_->next(current_, nullptr) == detail::RunCore::Status::end;
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& it, std::default_sentinel_t) noexcept { return it.at_end_; }

 private:
  std::shared_ptr<detail::RunCore> core_;
  mutable Element current_;
  bool at_end_ = false;
};

// One epoch of a run, for a range-for loop. A handle to the run, which stands in one epoch at a time: once the run has
// gone to another one, an earlier handle gives what is left of that.
template <class T> class Epoch {
 public:
  explicit Epoch(std::shared_ptr<detail::RunCore> core) : core_(std::move(core)) {}
  Iterator<T> begin() const { return Iterator<T>(core_); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  std::shared_ptr<detail::RunCore> core_;
};

// One execution, over any number of epochs. Move-only: one that was moved from throws Error(failed_precondition).
//
//   auto run = train.start({.epochs = 90});
//   for (std::uint32_t epoch = 0; epoch < 90; ++epoch)
//     for (auto&& batch : run.epoch(epoch)) step(batch);
template <class T> class Run {
 public:
  using Status = detail::RunCore::Status;

  explicit Run(std::shared_ptr<detail::RunCore> core) : core_(std::move(core)) {}
  Run(Run&&) noexcept = default;
  Run& operator=(Run&&) noexcept = default;

  // Goes to an epoch; what is left of the one before is given up, and so is what is left of this one if something of it
  // was taken: to go on behind an ElementError, call next(), loop over the same Epoch again, or set
  // RunOptions::on_error. Order depends on (seed, epoch) alone, so any epoch may be asked for at any time; asking for
  // them in turn, with RunOptions::epochs set, costs no start-up between them.
  Epoch<T> epoch(std::uint32_t number) { return Epoch<T>(core().begin_epoch(number)); }

  // The next element of the current epoch (RunOptions::first_epoch at first); nullopt at its end, and again after it.
  // Throws ElementError in the place of an element that failed; the next call goes on behind it. What T's own move
  // throws here comes as it is, and that element is gone. Called inside a function of this very run it throws
  // Error(failed_precondition): it would wait for itself.
  // A run that was made in a function of another one ends with the call that made it: where nobody wants that call's
  // result any more while it is in next(), its functions are told to stop, and next() throws Error(cancelled), once,
  // and ends. One that the function keeps for its next call ends with the outer run, or with the source's pass that
  // made it or began its epoch, if no other has read it since; then next() throws once in each pass, and epoch() begins
  // the run anew. A run that several calls share is to be made outside of them, and one that a call reads on another
  // thread is that call's to end.
  std::optional<T> next() {
    Element element;
    if (core().next(element, nullptr) != Status::element) return std::nullopt;
    return element.template take<T>();
  }

  // The same, waiting at most `patience`; one that no clock can count is for ever. A serial run, also one that begins
  // inside a function of another run, works on the caller's thread: it looks at the time between calls only, so a long
  // call cannot time out.
  template <class Rep, class Period> Next<T> next_for(std::chrono::duration<Rep, Period> patience) {
    const auto deadline = detail::deadline_in(patience);
    Element element;
    Next<T> answer{core().next(element, &deadline), std::nullopt};
    if (answer.status == Status::element) answer.value.emplace(element.template take<T>());
    return answer;
  }

  // Where the run stands: behind the last element that was delivered.
  Checkpoint checkpoint() const { return core().checkpoint(); }

  // Any thread. Where the run has not begun, it begins.
  std::vector<Knob> knobs() { return core().knobs(); }
  Snapshot snapshot() const { return core().snapshot(); }  // any thread
  RunStats stats() const { return core().stats(); }        // any thread

  // Why it is not faster: what limits it, what would help, what the controller did. Any thread, at any moment; costs
  // about as much as a few snapshots and stops nothing.
  //
  //   std::cout << ps::to_text(run.explain());
  Explanation explain() const { return core().explain(); }

  // The last 256 moves of knobs by the controller, oldest first, and why. Any thread; waits for nothing.
  std::vector<Decision> decisions() const { return core().decisions(); }

 private:
  detail::RunCore& core() const {
    if (core_ == nullptr) detail::refuse_moved_run();
    return *core_;
  }

  std::shared_ptr<detail::RunCore> core_;
};

}  // namespace penstock

#pragma GCC visibility pop
