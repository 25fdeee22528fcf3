#include "lib/exec/row_ledger.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "lib/core/byte_count.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kWatched = 256;  // elements after which an op that has declared nothing is asked no more
constexpr std::int64_t kMostResults = std::int64_t{1}
                                      << 31;  // of one element, that are believed: places are still numbers then
constexpr std::size_t kKindsOfBlocks = 4;     // of one batch: shapes that never repeat are no samples of a batch

bool may_have_places(std::int64_t rows, std::size_t row_bytes) {
  return row_bytes > 0 && detail::takes_batch_at_once(rows, row_bytes) && detail::is_worth_places(rows, row_bytes);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

}  // namespace

// ------------------------------------------------------------------------------------------------ places

RowLedger::Entry RowLedger::entry_of(const Slot& input) const {
  Entry entry;
  entry.ends_batch = input.kind() == Slot::Kind::pass_end && input.level() >= batch_.depth;
  entry.is_done = !input.is_element();
  const auto count = input.is_element() ? results_of(input.value) : std::optional<std::int64_t>(0);
  entry.is_known = count.has_value();
  entry.count = count.value_or(0);
  return entry;
}

// What can be told of an element before it is run.
std::optional<std::int64_t> RowLedger::results_of(const Element& input) const {
  if (batch_.declares == Declares::one_each && !batch_.takes_apart) return 1;
  if (batch_.op == nullptr) return std::nullopt;
  try {
    const auto count = batch_.op->outputs_of(input);
    return count ? std::optional(std::min(byte_count(*count), kMostResults)) : std::nullopt;
  } catch (...) {
    return std::nullopt;  // whatever is wrong with this element, the call itself will meet and report it
  }
}

std::int64_t RowLedger::admit(std::span<const Slot> inputs) {
  if (!is_used_.load(std::memory_order_relaxed)) return kNoTurn;
  admitted_.clear();
  for (const Slot& input : inputs) admitted_.push_back(entry_of(input));
  MutexLock lock(mutex_);
  if (!is_used_) return kNoTurn;
  const std::int64_t first = first_turn_ + static_cast<std::int64_t>(entries_.size());
  entries_.insert(entries_.end(), admitted_.begin(), admitted_.end());
  go_on();
  forget_done();
  return first;
}

RowLedger::Entry* RowLedger::find(std::int64_t turn) noexcept {
  const std::int64_t index = turn - first_turn_;
  const bool is_there = turn != kNoTurn && index >= 0 && index < static_cast<std::int64_t>(entries_.size());
  return is_there ? &entries_[static_cast<std::size_t>(index)] : nullptr;
}

// Where the entry behind this one begins.
std::int64_t RowLedger::after(const Entry& entry) const noexcept {
  const std::int64_t end = entry.place + entry.count;
  if (!entry.ends_batch) return end;
  return floor_div(end + batch_.size - 1, batch_.size) * batch_.size;
}

// What has just become known.
void RowLedger::go_on() noexcept {
  for (Entry* entry = find(known_until_); entry != nullptr && entry->is_known; entry = find(known_until_)) {
    entry->place = next_place_;
    next_place_ = after(*entry);
    ++known_until_;
  }
}

// The number of results of an element, which others may have relied on.
void RowLedger::tell(std::int64_t turn, Entry& entry, std::int64_t count) noexcept {
  if (entry.is_known && entry.count == count) return;
  entry.count = count;
  entry.is_known = true;
  if (turn >= known_until_) return go_on();
  ++version_;
  next_place_ = after(entry);
  for (std::int64_t later = turn + 1; later < known_until_; ++later) {
    Entry& moved = *find(later);
    moved.place = next_place_;
    next_place_ = after(moved);
  }
}

void RowLedger::declare(std::int64_t turn, std::int64_t count) noexcept {
  MutexLock lock(mutex_);
  was_asked_ = true;
  Entry* const entry = find(turn);
  if (entry != nullptr && !entry->is_done) tell(turn, *entry, std::min(count, kMostResults));
}

void RowLedger::complete(std::int64_t turn, std::optional<std::int64_t> count) {
  MutexLock lock(mutex_);
  Entry* const entry = find(turn);
  if (entry == nullptr || entry->is_done) return;
  tell(turn, *entry, count.value_or(entry->is_known ? entry->count : 1));
  entry->is_done = true;
  ++completed_;
  forget_done();
  stop_if_unused();
}

void RowLedger::forget_done() {
  while (!entries_.empty() && entries_.front().is_done) {
    entries_.pop_front();
    ++first_turn_;
  }
  retire_blocks();
}

void RowLedger::stop_if_unused() {
  if (was_asked_ || completed_ < kWatched) return;
  is_used_ = false;
  first_turn_ += static_cast<std::int64_t>(entries_.size());
  known_until_ = first_turn_;
  entries_.clear();
}

// A whole batch more or less does not matter; places in blocks that are gone are none.
void RowLedger::correct(std::int64_t drift, std::uint32_t version) noexcept {
  MutexLock lock(mutex_);
  if (version != version_) return;
  ++version_;
  const std::int64_t missing = first_block_ * batch_.size - (next_place_ - drift);
  if (missing > 0) drift -= (missing + batch_.size - 1) / batch_.size * batch_.size;
  next_place_ -= drift;
  for (std::int64_t turn = first_turn_; turn < known_until_; ++turn) find(turn)->place -= drift;
}

// ------------------------------------------------------------------------------------------------ rows

std::optional<RowLedger::Where> RowLedger::where(std::int64_t turn) {
  MutexLock lock(mutex_);
  const Entry* const entry = find(turn);
  if (entry == nullptr || turn >= known_until_) return std::nullopt;
  return Where{entry->place, version_};
}

Tensor RowLedger::row(std::int64_t turn, std::size_t i, DType type, const Shape& shape) {
  const std::size_t row_bytes = static_cast<std::size_t>(element_count(shape)) * size_of(type);
  if (!may_have_places(batch_.size, row_bytes)) return Tensor(type, shape);
  const auto first = where(turn);
  if (!first) return Tensor(type, shape);
  const std::int64_t place = first->place + byte_count(i);
  const auto block = block_at(floor_div(place, batch_.size), type, shape);
  auto row = block ? block->hand_out(place - block->number() * batch_.size, first->version) : std::nullopt;
  return row ? std::move(*row) : Tensor(type, shape);
}

// ------------------------------------------------------------------------------------------------ blocks

detail::BatchBlockRef RowLedger::find_block(std::int64_t number, DType type, const Shape& shape) const {
  const auto fits = [&](const auto& block) { return block->number() == number && block->holds(type, shape); };
  const auto block = std::ranges::find_if(blocks_, fits);
  return block == blocks_.end() ? nullptr : *block;
}

// Not where the batch cannot be written into any more, or has too many kinds of blocks.
bool RowLedger::may_have_block(std::int64_t number) const {
  const auto kinds = std::ranges::count_if(blocks_, [&](const auto& block) { return block->number() == number; });
  return number >= first_block_ && kinds < static_cast<std::ptrdiff_t>(kKindsOfBlocks);
}

// None where there is no memory for it: the batch may never need all of its rows.
detail::BatchBlockRef RowLedger::make_block(std::int64_t number, DType type, const Shape& shape) {
  try {
    return std::make_shared<detail::BatchBlock>(number, batch_.size, type, shape, weak_from_this());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Made outside the lock; where two threads have made the same one, the second is let go.
detail::BatchBlockRef RowLedger::block_at(std::int64_t number, DType type, const Shape& shape) {
  {
    MutexLock lock(mutex_);
    if (auto found = find_block(number, type, shape)) return found;
    if (!may_have_block(number)) return nullptr;
  }
  const auto made = make_block(number, type, shape);
  if (made == nullptr) return nullptr;
  MutexLock lock(mutex_);
  if (auto found = find_block(number, type, shape)) return found;
  if (!may_have_block(number)) return nullptr;
  blocks_.push_back(made);
  return made;
}

// Those before the oldest element that is not done, as far as places are known.
void RowLedger::retire_blocks() {
  const std::int64_t oldest = !entries_.empty() && first_turn_ < known_until_ ? entries_.front().place : next_place_;
  first_block_ = std::max(first_block_, floor_div(oldest, batch_.size));
  const auto is_open = [this](const auto& block) REQUIRES(mutex_) { return block->number() >= first_block_; };
  const auto retired = std::partition(blocks_.begin(), blocks_.end(), is_open);
  if (retired == blocks_.end()) return;
  garbage_.insert(garbage_.end(), std::make_move_iterator(retired), std::make_move_iterator(blocks_.end()));
  blocks_.erase(retired, blocks_.end());
  has_garbage_ = true;
}

void RowLedger::drop_garbage() {
  std::vector<detail::BatchBlockRef> garbage;
  MutexLock lock(mutex_);
  garbage.swap(garbage_);
  has_garbage_ = false;
}

void RowLedger::clear() {
  std::vector<detail::BatchBlockRef> blocks, garbage;
  MutexLock lock(mutex_);
  blocks.swap(blocks_);
  garbage.swap(garbage_);
}

std::size_t RowLedger::open_blocks() const {
  MutexLock lock(mutex_);
  return blocks_.size();
}

// ------------------------------------------------------------------------------------------------ one call

std::int64_t GroupRows::enter(const Slot& input) noexcept {
  const Slot* const begin = inputs_.data();
  const Slot* const end = begin + inputs_.size();
  if (std::less<>()(&input, begin) || !std::less<>()(&input, end)) return RowLedger::kNoTurn;
  return first_turn_ + (&input - begin);
}

void GroupRows::declare(std::int64_t turn, std::size_t count) noexcept { ledger_.declare(turn, byte_count(count)); }

Tensor GroupRows::row(std::int64_t turn, std::size_t i, DType type, const Shape& shape) {
  return ledger_.row(turn, i, type, shape);
}

}  // namespace penstock::exec
