// RowLedger: which row of which batch to come each result of an element gets, before the batch exists.
//
// One for a stage that feeds a batch(n) with nothing between that changes order or leaves elements out. Each slot of
// the stage's input has a turn, in input order. Where an element's results begin is the number of results before it:
// known once the numbers of all elements before it are, which the op tells of its input (outputs_of) or the body
// declares. Place p is row p % n of block p / n. The end of the batch's input rounds up to the next block.
//
// All of this is foresight. An element that fails gives its places back, and those after it move up, though some of
// their rows may be written already; a number may be wrong; the batch may refuse an element. BatchBlock sees to it that
// this costs copies only, and the batch tells how far a row was from its true place (correct()), so that a mistake
// lasts no longer than the elements under way.
//
// An op that has not declared anything for its first 256 elements is asked no more: then a ledger costs one look at a
// flag for each group.
//
// Thread safety: admit() in input order, with the stage's lock held; all else by any thread. Nothing is called while
// the ledger's lock is held.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <penstock/op.h>

#include "lib/base/mutex.h"
#include "lib/core/batch_block.h"
#include "lib/exec/batch_ahead.h"

namespace penstock::exec {

class RowLedger final : public detail::RowPlanner, public std::enable_shared_from_this<RowLedger> {
 public:
  static constexpr std::int64_t kNoTurn = -1;

  explicit RowLedger(const BatchAhead& batch) : batch_(batch) {}

  // Gives these inputs, in this order, the next turns, and returns the first. kNoTurn: the op writes no rows in
  // advance.
  std::int64_t admit(std::span<const Slot> inputs) EXCLUDES(mutex_);

  void declare(std::int64_t turn, std::int64_t count) noexcept EXCLUDES(mutex_);
  // The element is done, or will never be run. The number of its results; nothing: as many as were declared, or one.
  void complete(std::int64_t turn, std::optional<std::int64_t> count) EXCLUDES(mutex_);

  // Memory for result i of the element: its row, or scratch memory where that is not known or has been given away.
  // Throws std::bad_alloc.
  Tensor row(std::int64_t turn, std::size_t i, DType type, const Shape& shape);

  void correct(std::int64_t drift, std::uint32_t version) noexcept EXCLUDES(mutex_) override;

  // drop_garbage() lets go of blocks in which no element can get a row any more; clear() of all. Call both outside the
  // stage's lock, for memory may go back to the system.
  bool has_garbage() const noexcept { return has_garbage_.load(std::memory_order_relaxed); }
  void drop_garbage() EXCLUDES(mutex_);
  void clear() EXCLUDES(mutex_);

  std::size_t open_blocks() const EXCLUDES(mutex_);

 private:
  struct Entry {
    std::int64_t place = -1;  // where its results begin; of those before known_until_
    std::int64_t count = 0;
    bool is_known = false;  // count is what was told beforehand or declared, or what came
    bool is_done = false;
    bool ends_batch = false;  // a mark: what comes after it begins a batch
  };
  struct Where {
    std::int64_t place;
    std::uint32_t version;
  };

  Entry* find(std::int64_t turn) noexcept REQUIRES(mutex_);
  std::int64_t after(const Entry& entry) const noexcept;
  void tell(std::int64_t turn, Entry& entry, std::int64_t count) noexcept REQUIRES(mutex_);
  void go_on() noexcept REQUIRES(mutex_);
  void forget_done() REQUIRES(mutex_);
  void retire_blocks() REQUIRES(mutex_);
  void stop_if_unused() REQUIRES(mutex_);
  detail::BatchBlockRef find_block(std::int64_t number, DType type, const Shape& shape) const REQUIRES(mutex_);
  bool may_have_block(std::int64_t number) const REQUIRES(mutex_);

  Entry entry_of(const Slot& input) const;
  std::optional<std::int64_t> results_of(const Element& input) const;
  std::optional<Where> where(std::int64_t turn) EXCLUDES(mutex_);
  detail::BatchBlockRef make_block(std::int64_t number, DType type, const Shape& shape);
  detail::BatchBlockRef block_at(std::int64_t number, DType type, const Shape& shape) EXCLUDES(mutex_);

  const BatchAhead batch_;
  std::vector<Entry> admitted_;  // of admit() alone: memory that it uses again
  std::atomic<bool> is_used_{true};
  std::atomic<bool> has_garbage_{false};

  // Held for a few instructions, or a few for each element under way where one fails. Whenever it is free:
  //   * entries_[i] has turn first_turn_ + i; the first one is not done; all before known_until_ are known, that one is
  //     not;
  //   * entries before known_until_ lie behind each other, and next_place_ behind the last of them;
  //   * all rows that were handed out since places last moved have version_;
  //   * a block has a number of at least first_block_, and lower ones are never made again.
  mutable Mutex mutex_;
  std::deque<Entry> entries_ GUARDED_BY(mutex_);
  std::int64_t first_turn_ GUARDED_BY(mutex_) = 0;
  std::int64_t known_until_ GUARDED_BY(mutex_) = 0;
  std::int64_t next_place_ GUARDED_BY(mutex_) = 0;
  std::uint32_t version_ GUARDED_BY(mutex_) = 0;
  std::int64_t first_block_ GUARDED_BY(mutex_) = 0;
  std::vector<detail::BatchBlockRef> blocks_ GUARDED_BY(mutex_);
  std::vector<detail::BatchBlockRef> garbage_ GUARDED_BY(mutex_);
  std::int64_t completed_ GUARDED_BY(mutex_) = 0;
  bool was_asked_ GUARDED_BY(mutex_) = false;
};

// What one call of a stage's body sees of the ledger: the turns of its group's slots.
class GroupRows final : public detail::OutputRows {
 public:
  GroupRows(RowLedger& ledger, std::span<const Slot> inputs, std::int64_t first_turn) noexcept
      : ledger_(ledger), inputs_(inputs), first_turn_(first_turn) {}

  // kNoTurn for a slot that is none of the group's.
  std::int64_t enter(const Slot& input) noexcept override;
  void declare(std::int64_t turn, std::size_t count) noexcept override;
  Tensor row(std::int64_t turn, std::size_t i, DType type, const Shape& shape) override;

 private:
  RowLedger& ledger_;
  const std::span<const Slot> inputs_;
  const std::int64_t first_turn_;
};

}  // namespace penstock::exec
