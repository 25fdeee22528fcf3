#include <penstock/batch.h>

#include <algorithm>
#include <cstring>

#include "lib/base/fail_argument.h"
#include "lib/core/batch_block.h"
#include "lib/core/stream_copy.h"

namespace penstock {
namespace {

using detail::BatchBlock;

// TensorFlow's own drawing of a shape, which has no blanks: error texts are compared with it.
std::string tf_shape(const Shape& shape) {
  std::string text = to_string(shape);
  std::erase(text, ' ');
  return text;
}

[[noreturn]] void fail_mismatch(const char* what, const std::string& first, std::int64_t index,
                                const std::string& other, const char* way_out) {
  fail_argument(std::string("Cannot batch tensors with different ") + what + "s in component 0. First element had " +
                what + " " + first + " and element " + std::to_string(index) + " had " + what + " " + other + way_out);
}

Tensor new_rows(const Tensor& row, std::int64_t count) {
  Shape shape = row.shape();
  shape.insert(shape.begin(), count);
  return Tensor(row.dtype(), std::move(shape));
}

// As many rows as wanted, or as are to be had, but no fewer than needed.
Tensor rows_to_be_had(const Tensor& row, std::int64_t needed, std::int64_t wanted) {
  for (;; wanted = std::max(needed, wanted / 2)) {
    try {
      return new_rows(row, std::max(needed, wanted));
    } catch (const std::bad_alloc&) {
      if (wanted <= needed) throw;
    }
  }
}

void copy(Tensor& rows, std::int64_t index, const Tensor& row) {
  std::byte* const place = rows.data() + static_cast<std::size_t>(index) * row.bytes();
  if (rows.bytes() >= kBeyondCaches)
    stream_copy(place, row.data(), row.bytes());
  else if (row.bytes() > 0)
    std::memcpy(place, row.data(), row.bytes());
  detail::copied_bytes_of_thread() += static_cast<std::int64_t>(row.bytes());
}

// The first row of the block, whether the sample lies there or behind.
bool take_first(const BatchBlock::Row& at) { return at.index == 0 ? at.block->keep(0) : at.block->take(0); }

bool take_places_before(const BatchBlock::Row& at, std::int64_t count, std::int64_t capacity) {
  bool taken = at.index == count && 2 * count <= capacity;
  for (std::int64_t place = 0; taken && place < count; ++place) taken = at.block->take(place);
  return taken;
}

void check_like(DType type, const Shape& shape, std::int64_t index, const Tensor& row) {
  if (row.dtype() != type)
    fail_mismatch("type", std::string(to_string(type)), index, std::string(to_string(row.dtype())),
                  ". Bring them to one type with a map before batch()");
  if (row.shape() != shape)
    fail_mismatch("shape", tf_shape(shape), index, tf_shape(row.shape()),
                  ". Bring them to one shape with a map before batch(), or put them together as they are by "
                  "padded_batch() or ragged_batch()");
}

}  // namespace

void Collate<Tensor>::Builder::check(const Tensor& row) const {
  if (count_ > 0) check_like(rows_.dtype(), row_shape_, count_, row);
}

void Collate<Tensor>::Builder::add(const Tensor& row) {
  if (block_ == nullptr) open(row);
  report_drift(row);
  if (!lies_in_place(row)) {
    make_room(row);
    copy(rows_, count_, row);
  }
  ++count_;
}

// Adopts the memory that a sample was written into, if the batch fits there from its beginning on: where its first
// samples lay elsewhere, they are copied there, but not so late that more would be copied than is saved.
void Collate<Tensor>::Builder::open(const Tensor& row) {
  if (count_ == 0) row_shape_ = row.shape();
  const BatchBlock::Row at = BatchBlock::row_of(row);
  if (at.block == nullptr || at.block->rows() != capacity_) return;
  if (count_ == 0 ? !take_first(at) : !take_places_before(at, count_, capacity_)) return;
  move_to(at.block->tensor());
  block_ = at.block->shared_from_this();
}

// If so, the row is the batch's from now on. That of the first one is already, by open().
bool Collate<Tensor>::Builder::lies_in_place(const Tensor& row) const {
  const BatchBlock::Row at = BatchBlock::row_of(row);
  if (block_ == nullptr || at.block != block_.get() || at.index != count_) return false;
  return count_ == 0 || block_->keep(count_);
}

// Sees to it that the next place may be written. Where a sample has been given that place which may still be under way,
// the batch leaves the block.
void Collate<Tensor>::Builder::make_room(const Tensor& row) {
  const bool is_full = count_ == allocated_;
  if (block_ != nullptr && !is_full && (count_ == 0 || block_->take(count_))) return;
  if (block_ == nullptr && !is_full) return;
  std::int64_t wanted = is_full ? std::min(capacity_, 2 * allocated_) : allocated_;
  if (count_ == 0) wanted = detail::rows_taken_first(capacity_, row.bytes());
  move_to(rows_to_be_had(row, count_ + 1, wanted));
}

void Collate<Tensor>::Builder::move_to(Tensor larger) {
  const std::size_t row_bytes = count_ == 0 ? 0 : rows_.bytes() / static_cast<std::size_t>(allocated_);
  const std::size_t bytes = row_bytes * static_cast<std::size_t>(count_);
  if (bytes > 0) std::memcpy(larger.data(), rows_.data(), bytes);
  detail::copied_bytes_of_thread() += static_cast<std::int64_t>(bytes);
  rows_ = std::move(larger);
  allocated_ = rows_.shape()[0];
  block_.reset();
}

// Tells who gave the row its place how far it is from the true one. A batch in memory of its own has no true place in
// any block: the next batch is to begin with a block that nobody has had a row of.
void Collate<Tensor>::Builder::report_drift(const Tensor& row) const {
  const BatchBlock::Row at = BatchBlock::row_of(row);
  if (at.block == nullptr) return;
  std::int64_t drift = at.index - count_;
  if (block_ != nullptr)
    drift += (at.block->number() - block_->number()) * at.block->rows();
  else if (drift > 0)
    drift -= at.block->rows();
  if (drift == 0) return;
  if (const auto planner = at.block->planner()) planner->correct(drift, at.version);
}

Tensor Collate<Tensor>::Builder::finish() {
  if (count_ == allocated_) return std::move(rows_);
  // A shorter view of the same memory, which it keeps alive.
  Shape shape = row_shape_;
  shape.insert(shape.begin(), count_);
  const auto owner = std::make_shared<Tensor>(std::move(rows_));
  return Tensor(owner->dtype(), std::move(shape), std::shared_ptr<std::byte>(owner, owner->data()));
}

std::vector<Tensor> Unbatch<Tensor>::apart(const Tensor& batch) {
  if (batch.rank() == 0)
    fail_argument(
        "Input element must have a non-scalar value in each component. Give unbatch() tensors of rank 1 or more");
  std::vector<Tensor> rows;
  rows.reserve(static_cast<std::size_t>(batch.shape()[0]));
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i) rows.push_back(batch.row(i));
  return rows;
}

void detail::fail_unequal_columns(std::size_t first, std::size_t component, std::size_t size) {
  fail_argument("Input element must have the same batch size in each component. Component 0 had size " +
                std::to_string(first) + " but component " + std::to_string(component) + " had size, " +
                std::to_string(size) + ". Make the columns equally long before unbatch()");
}

Tensor stack(std::span<const Tensor> rows) {
  if (rows.empty()) fail_argument("cannot stack zero tensors; their shape would be unknown");
  const Tensor& first = rows.front();
  Tensor all = new_rows(first, static_cast<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check_like(first.dtype(), first.shape(), static_cast<std::int64_t>(i), rows[i]);
    if (first.bytes() > 0) std::memcpy(all.data() + i * first.bytes(), rows[i].data(), first.bytes());
  }
  return all;
}

}  // namespace penstock
