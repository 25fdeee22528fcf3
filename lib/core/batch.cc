#include <penstock/batch.h>

#include <algorithm>
#include <cstring>

#include "lib/core/stream_copy.h"

namespace penstock {
namespace {

// Up to this many rows, or this many bytes, memory for the whole batch is taken at once; a larger
// batch grows, since it may never be filled (batch(1'000'000'000) is a way to say "all").
constexpr std::int64_t rows_at_once = 1024;
constexpr std::int64_t bytes_at_once = std::int64_t{64} << 20;

[[noreturn]] void fail(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

// TensorFlow's own drawing of a shape, which has no blanks: error texts are compared with it.
std::string tf_shape(const Shape& shape) {
  std::string text = to_string(shape);
  std::erase(text, ' ');
  return text;
}

[[noreturn]] void fail_mismatch(const char* what, const std::string& first, std::int64_t index,
                                const std::string& other) {
  fail(std::string("Cannot batch tensors with different ") + what +
       "s in component 0. First element had " + what + " " + first + " and element " +
       std::to_string(index) + " had " + what + " " + other + ". Bring them to one " + what + " with a map before batch()");
}

Tensor new_rows(const Tensor& row, std::int64_t count) {
  Shape shape = row.shape();
  shape.insert(shape.begin(), count);
  return Tensor(row.dtype(), std::move(shape));
}

std::int64_t first_rows(std::int64_t capacity, const Tensor& row) {
  const auto row_bytes = static_cast<std::int64_t>(row.bytes());
  if (row_bytes == 0) return capacity;
  return std::min(capacity, std::max(rows_at_once, bytes_at_once / row_bytes));
}

constexpr std::size_t beyond_caches = std::size_t{8} << 20;  // bytes of a batch that no core's own cache holds

}  // namespace

void Collate<Tensor>::Builder::check(const Tensor& row) const {
  if (count_ == 0) return;
  if (row.dtype() != rows_.dtype())
    fail_mismatch("type", std::string(to_string(rows_.dtype())), count_,
                  std::string(to_string(row.dtype())));
  if (row.shape() != row_shape_)
    fail_mismatch("shape", tf_shape(row_shape_), count_, tf_shape(row.shape()));
}

void Collate<Tensor>::Builder::add(const Tensor& row) {
  if (count_ == 0) row_shape_ = row.shape();
  if (count_ == allocated_) {
    const std::int64_t wanted =
        count_ == 0 ? first_rows(capacity_, row) : std::min(capacity_, 2 * allocated_);
    Tensor larger = new_rows(row, std::max(wanted, count_ + 1));
    if (count_ > 0 && rows_.bytes() > 0) std::memcpy(larger.data(), rows_.data(), rows_.bytes());
    rows_ = std::move(larger);
    allocated_ = rows_.shape()[0];
  }
  std::byte* const place = rows_.data() + static_cast<std::size_t>(count_) * row.bytes();
  if (rows_.bytes() >= beyond_caches)
    stream_copy(place, row.data(), row.bytes());
  else if (row.bytes() > 0)
    std::memcpy(place, row.data(), row.bytes());
  ++count_;
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
  if (batch.rank() == 0) fail("Input element must have a non-scalar value in each component. Give unbatch() tensors of rank 1 or more");
  std::vector<Tensor> rows;
  rows.reserve(static_cast<std::size_t>(batch.shape()[0]));
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i) rows.push_back(batch.row(i));
  return rows;
}

void detail::fail_unequal_columns(std::size_t first, std::size_t component, std::size_t size) {
  fail("Input element must have the same batch size in each component. Component 0 had size " +
       std::to_string(first) + " but component " + std::to_string(component) + " had size, " +
       std::to_string(size) + ". Make the columns equally long before unbatch()");
}

Tensor stack(std::span<const Tensor> rows) {
  if (rows.empty()) fail("cannot stack zero tensors; their shape would be unknown");
  Collate<Tensor>::Builder batch(rows.size());
  for (const Tensor& row : rows) {
    batch.check(row);
    batch.add(row);
  }
  return batch.finish();
}

}  // namespace penstock
