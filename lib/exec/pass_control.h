// PassControl: which pass the source runs, and when it ends.
//
// A chain with K repeats is an odometer: the source runs pass after pass, the counts of the repeats are its digits
// (digit 0 belongs to the repeat nearest to the source), the epoch is its last one. The end of a pass travels down the
// chain as a mark with a level: how many repeats ended with it. An op with d repeats upstream takes marks of level >= d
// for the end of its input and ignores the others. So the source starts the next pass at once, without waiting for a
// repeat far down the chain to ask.
//
// The price is that it may have begun a pass which nobody wants: behind `take(5).repeat(3)` every pass is cut short.
// Whoever has enough calls close_early(): the pass ends there and then, the digits below its depth are wound up, and
// the source goes on with the next pass of that depth. The source may be inside a call that takes long, so it does not
// ask: whoever has enough gets the mark for what comes behind it, and the source **owes** the same mark to the stages
// between, which it sends when it is back. Sequence numbers count every pass begun; they tell an outdated request from
// a fresh one. Pass numbers seed random orders, so they must not depend on how far the source had run ahead: they are
// made of the digits alone.
//
// In a tree each source has such an odometer, and so has each merge, for the passes that it gives: its repeats, and
// those further down. They turn on at their own pace. So each mark says in which round the pass behind it is
// (round_of()): a number of the epoch that rises by the order in which epochs are asked for, whatever the epochs are
// called. What comes up to a merge is compared with where the merge is by digits and round (Odometer).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <stop_token>
#include <vector>

#include <penstock/op.h>

#include "lib/base/mutex.h"

namespace penstock::exec {

// The round of the first pass that a request asks for; those of begin_epoch() are numbered from 1.
constexpr std::uint64_t round_of_request(std::uint32_t request) noexcept { return std::uint64_t{request} << 32; }

class PassControl {
 public:
  // counts: of the repeats, nearest to the source first; -1: for ever. epochs: how many to run without being asked.
  // first_sequence: tests begin late.
  PassControl(std::vector<std::int64_t> counts, std::uint32_t first_epoch, std::uint32_t epochs,
              std::uint64_t first_sequence = 0);

  // A pass of the source. Of its stamp only epoch, pass and sequence are set.
  struct Pass {
    Stamp stamp;
    bool fresh = false;  // asked for the first time
    bool over = false;   // somebody else has ended it: only close() is left to do
  };

  // The pass to run now; false if there is none until begin_epoch().
  bool current(Pass& pass) EXCLUDES(mutex_);
  bool idle() const EXCLUDES(mutex_);
  // Counts what others have asked for: cuts, ends, epochs.
  std::uint64_t changes() const noexcept { return changes_.load(); }

  // Whether the pass that the source is in is to end early, or has ended; cheap.
  bool cut_requested() const EXCLUDES(mutex_);

  // For the source: ends the pass that it is in, by itself or because it was cut, and gives its mark.
  Slot close() EXCLUDES(mutex_);

  // The pass with this sequence is not wanted any more by an op with `depth` repeats upstream: it ends when the source
  // looks. Outdated requests do nothing.
  void end(std::size_t depth, std::uint64_t sequence) EXCLUDES(mutex_);

  // The same at once. Returns the mark that ends the op's input: of this pass, or of the last one that ends with it.
  // None if the consumer has had that mark: then an op further down has closed the pass before this one could, and the
  // source is still to send its own.
  std::optional<Slot> close_early(std::size_t depth, std::uint64_t sequence) EXCLUDES(mutex_);

  // Whether by end() or close_early() the pass with this sequence, and all up to the end of one with `depth` repeats
  // upstream, are not wanted any more.
  bool is_unwanted(std::size_t depth, std::uint64_t sequence) const EXCLUDES(mutex_);

  // Marks up to this sequence have reached the consumer: nobody will ask for them.
  void forget_until(std::uint64_t sequence) EXCLUDES(mutex_);

  // Set when the pass that the source is in is not wanted any more, or after stop().
  std::stop_token stop_token() const EXCLUDES(mutex_);
  void stop() EXCLUDES(mutex_);  // the run is abandoned

  // Behind the last epoch asked for, when that has ended: in a tree some sources may still be in it when the consumer
  // is through.
  void begin_epoch(std::uint32_t epoch, std::uint32_t epochs) EXCLUDES(mutex_);

  // Ends the epoch that is being read, and begins no other. Returns a sequence: the mark of the pass that has it is the
  // last one to come.
  std::uint64_t halt() EXCLUDES(mutex_);

  // Passes are numbered from this one on, where the run is part of another run's pass. Before anything is read.
  void number_from(std::uint32_t pass) {
    MutexLock lock(mutex_);
    now_.pass = base_ = pass;
  }

  // Winds on to the given pass of the first epoch, as if the passes before it had ended by themselves; called once,
  // before anything is read. Error(data_loss) if the epoch has no such pass.
  void wind_to(std::uint32_t pass) EXCLUDES(mutex_);
  // The same by the counts of the repeats: numbers of passes are mixed where repeats are nested.
  void wind_to(const std::vector<std::int64_t>& digits) EXCLUDES(mutex_);
  std::vector<std::int64_t> digits() const EXCLUDES(mutex_);  // of the pass to run now

  std::size_t depth() const noexcept { return counts_.size(); }
  // The round of the pass behind this mark.
  static std::uint64_t round_of(const Slot& mark) noexcept { return mark.stamp.sub; }

 private:
  struct Request {
    std::uint32_t epoch, epochs;
  };
  struct Mark {
    Stamp stamp;
    std::uint8_t level = 0;
    Slot slot() const;
  };

  std::uint8_t advance(std::size_t from) REQUIRES(mutex_);
  Mark close_pass(std::size_t from) REQUIRES(mutex_);
  void end_epoch() REQUIRES(mutex_);
  void begin_request() REQUIRES(mutex_);
  std::stop_source take_stop() REQUIRES(mutex_);

  const std::vector<std::int64_t> counts_;

  std::atomic<std::uint64_t> changes_{0};
  mutable Mutex mutex_;  // held for a few instructions, never across a call out
  // closed_ and marks_ know each mark that was made; owed_ are the last of marks_. While any is owed, the source is in
  // no pass from the first owed one on, and close() first returns that mark.
  std::vector<std::int64_t> digits_ GUARDED_BY(mutex_);
  // [d]: sequence of the last pass whose mark had a level >= d; -1: none. Falls with d
  std::vector<std::int64_t> closed_ GUARDED_BY(mutex_);
  // the same, of the marks that the consumer has had: they are in marks_ no more
  std::vector<std::int64_t> forgotten_ GUARDED_BY(mutex_);
  std::uint32_t base_ GUARDED_BY(mutex_) = 0;  // of pass numbers
  Stamp now_ GUARDED_BY(mutex_);
  bool fresh_ GUARDED_BY(mutex_) = true;
  std::uint32_t epochs_left_ GUARDED_BY(mutex_);
  std::deque<Request> requests_ GUARDED_BY(mutex_);  // behind the one that is under way
  std::uint32_t asked_ GUARDED_BY(mutex_) = 0;       // requests, without the first one
  std::uint64_t round_ GUARDED_BY(mutex_) = 0;       // of now_: number of the request, then of the epoch in it
  bool cut_ GUARDED_BY(mutex_) = false;
  std::size_t cut_depth_ GUARDED_BY(mutex_) = 0;
  std::deque<Mark> marks_ GUARDED_BY(mutex_);  // made, and perhaps not yet with the consumer; sequences rise
  std::deque<Mark> owed_ GUARDED_BY(mutex_);   // of them, those that the source is still to send
  // of the pass that the source is in; of the next one, as soon as that one is to end
  std::stop_source stop_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace penstock::exec
