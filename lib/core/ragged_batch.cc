#include <penstock/ragged_batch.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "lib/base/fail_argument.h"
#include "lib/core/batch_block.h"
#include "lib/core/stream_copy.h"

namespace penstock {
namespace {

Shape behind_first(const Shape& shape) { return {shape.begin() + 1, shape.end()}; }

}  // namespace

namespace detail {

RaggedRows::RaggedRows(std::size_t capacity) { rows_.reserve(std::min<std::size_t>(capacity, 1024)); }

void RaggedRows::check(DType type, const Shape& shape) const {
  if (shape.empty())
    fail_argument(
        "a tensor of rank 0 has no length, so it cannot be a row of a ragged batch; give it a dimension by a map "
        "before ragged_batch(), or make it a number");
  if (rows_.empty()) return;
  const RowView& first = rows_.front();
  if (type != first.type)
    fail_argument("Cannot batch tensors with different types. First element had type " +
                  std::string(to_string(first.type)) + " and element " + std::to_string(rows_.size()) + " had type " +
                  std::string(to_string(type)) + ". Bring them to one type with a map before ragged_batch()");
  if (shape.size() != first.shape.size() || behind_first(shape) != behind_first(first.shape))
    fail_argument("rows of a ragged batch may differ in dimension 0 alone. First element had shape " +
                  to_string(first.shape) + " and element " + std::to_string(rows_.size()) + " had shape " +
                  to_string(shape) + ". Bring them together with a map before ragged_batch(), or use padded_batch()");
}

void RaggedRows::add(RowView row) { rows_.push_back(std::move(row)); }

// Tensors without a value may be of any length, so these need not fit the memory.
std::vector<std::int64_t> RaggedRows::row_splits() const {
  std::vector<std::int64_t> splits{0};
  for (const RowView& row : rows_) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(splits.back(), row.shape[0], &end))
      fail_argument("the rows of a ragged batch are longer than 2^63 - 1 together; give ragged_batch() fewer of them");
    splits.push_back(end);
  }
  return splits;
}

Ragged<Tensor> RaggedRows::finish(const RowCopied& copied) {
  std::vector<std::int64_t> splits = row_splits();
  Shape shape = rows_.front().shape;
  shape[0] = splits.back();
  Tensor values(rows_.front().type, std::move(shape));
  const bool beyond_caches = values.bytes() >= kBeyondCaches;
  std::byte* place = values.data();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const RowView& row = rows_[i];
    if (beyond_caches)
      stream_copy(place, row.data, row.bytes);
    else if (row.bytes > 0)
      std::memcpy(place, row.data, row.bytes);
    place += row.bytes;
    copied_bytes_of_thread() += static_cast<std::int64_t>(row.bytes);
    copied(i);
  }
  rows_.clear();
  return {std::move(values), std::move(splits)};
}

void check_row_splits(const std::vector<std::int64_t>& splits, std::int64_t values) {
  const bool is_whole = !splits.empty() && splits.front() == 0 && splits.back() == values;
  if (!is_whole || !std::ranges::is_sorted(splits))
    fail_argument(
        "the row_splits of a ps::Ragged must begin with 0, never fall, and end with the number of its values, " +
        std::to_string(values) + "; leave them as ragged_batch() made them, or make them so");
}

}  // namespace detail

std::vector<Tensor> Unbatch<Ragged<Tensor>>::apart(const Ragged<Tensor>& batch) {
  std::vector<Tensor> rows;
  const auto& splits = batch.row_splits;
  if (batch.values.rank() == 0)
    fail_argument("the values of a ps::Ragged have rank 0, so they are no rows; give them a dimension");
  detail::check_row_splits(splits, batch.values.shape()[0]);
  const std::size_t bytes = batch.values.bytes() / static_cast<std::size_t>(std::max<std::int64_t>(splits.back(), 1));
  for (std::size_t i = 0; i + 1 < splits.size(); ++i) {
    Shape shape = batch.values.shape();
    shape[0] = splits[i + 1] - splits[i];
    std::byte* const place = batch.values.owner().get() + static_cast<std::size_t>(splits[i]) * bytes;
    rows.emplace_back(batch.values.dtype(), std::move(shape), std::shared_ptr<std::byte>(batch.values.owner(), place));
  }
  return rows;
}

}  // namespace penstock
