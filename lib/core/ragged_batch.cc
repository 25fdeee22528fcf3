#include <penstock/ragged_batch.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "lib/core/batch_block.h"
#include "lib/core/stream_copy.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

Shape behind_first(const Shape& shape) { return {shape.begin() + 1, shape.end()}; }

}  // namespace

namespace detail {

RaggedRows::RaggedRows(std::size_t capacity) { rows_.reserve(std::min<std::size_t>(capacity, 1024)); }

void RaggedRows::check(DType type, const Shape& shape) const {
  if (shape.empty())
    refuse(
        "a tensor of rank 0 has no length, so it cannot be a row of a ragged batch; give it a dimension by a map "
        "before ragged_batch(), or make it a number");
  if (rows_.empty()) return;
  const Tensor& first = rows_.front();
  if (type != first.dtype())
    refuse("Cannot batch tensors with different types. First element had type " +
           std::string(to_string(first.dtype())) + " and element " + std::to_string(rows_.size()) + " had type " +
           std::string(to_string(type)) + ". Bring them to one type with a map before ragged_batch()");
  if (shape.size() != first.rank() || behind_first(shape) != behind_first(first.shape()))
    refuse("rows of a ragged batch may differ in dimension 0 alone. First element had shape " +
           to_string(first.shape()) + " and element " + std::to_string(rows_.size()) + " had shape " +
           to_string(shape) + ". Bring them together with a map before ragged_batch(), or use padded_batch()");
}

void RaggedRows::add(Tensor row) { rows_.push_back(std::move(row)); }

Ragged<Tensor> RaggedRows::finish() {
  std::vector<std::int64_t> row_splits{0};
  for (const Tensor& row : rows_) row_splits.push_back(row_splits.back() + row.shape()[0]);
  Shape shape = rows_.front().shape();
  shape[0] = row_splits.back();
  Tensor values(rows_.front().dtype(), std::move(shape));
  std::byte* place = values.data();
  for (Tensor& row : rows_) {
    if (values.bytes() >= kBeyondCaches)
      stream_copy(place, row.data(), row.bytes());
    else if (row.bytes() > 0)
      std::memcpy(place, row.data(), row.bytes());
    place += row.bytes();
    copied_bytes_of_thread() += static_cast<std::int64_t>(row.bytes());
    row = Tensor();
  }
  rows_.clear();
  return {std::move(values), std::move(row_splits)};
}

}  // namespace detail

std::vector<Tensor> Unbatch<Ragged<Tensor>>::apart(const Ragged<Tensor>& batch) {
  std::vector<Tensor> rows;
  const auto& splits = batch.row_splits;
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
