#include "lib/core/batch_block.h"

#include <penstock/context.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace penstock::detail {
namespace {

// Up to this many rows, or this many bytes, memory for the whole batch is taken at once; a larger
// batch grows, since it may never be filled (batch(1'000'000'000) is a way to say "all"). The same for more bytes than
// the last number, however few the rows: 1000 rows of 100 MiB are not to be had.
constexpr std::int64_t rows_at_once = 1024;
constexpr std::int64_t bytes_at_once = std::int64_t{64} << 20;
constexpr std::int64_t most_bytes_at_once = std::int64_t{1} << 30;
constexpr std::int64_t bytes_of_few_places = std::int64_t{1} << 20;  // of one batch

}  // namespace

// Lies beside the reference counts of a row that is handed out: by it such a tensor is known. The memory needs no
// freeing.
struct BatchBlock::Letter {
  Row row;
  void operator()(std::byte*) const noexcept {}
};

// Gives a row's reference counts their place in the block, which it keeps alive until they are gone, weak ones
// included. Only then is the row free: the next owner's counts are built in the same place.
template <class T> class BatchBlock::PlaceAllocator {
 public:
  using value_type = T;

  PlaceAllocator(BatchBlockRef block, std::int64_t row) noexcept : block_(std::move(block)), row_(row) {}
  template <class U> PlaceAllocator(const PlaceAllocator<U>& other) noexcept : block_(other.block_), row_(other.row_) {}

  T* allocate([[maybe_unused]] std::size_t count) noexcept {
    static_assert(sizeof(T) <= sizeof(Place::counts) && alignof(T) <= alignof(Place));
    assert(count == 1);
    return reinterpret_cast<T*>(block_->place(row_).counts.data());
  }
  void deallocate(T*, std::size_t) noexcept { block_->release(row_); }

  friend bool operator==(const PlaceAllocator&, const PlaceAllocator&) = default;

 private:
  template <class U> friend class PlaceAllocator;
  BatchBlockRef block_;
  std::int64_t row_;
};

BatchBlock::BatchBlock(std::int64_t number, std::int64_t rows, DType type, const Shape& row_shape,
                       std::weak_ptr<RowPlanner> planner)
    : number_(number),
      rows_(rows),
      type_(type),
      row_shape_(row_shape),
      row_bytes_(static_cast<std::size_t>(element_count(row_shape)) * size_of(type)),
      planner_(std::move(planner)),
      memory_(allocate_payload(bytes())),
      places_(std::make_unique<Place[]>(static_cast<std::size_t>(rows))) {}

std::optional<Tensor> BatchBlock::hand_out(std::int64_t row, std::uint32_t version) {
  if (!change(row, State::free, State::handed_out)) return std::nullopt;
  std::byte* const at = memory_.get() + static_cast<std::size_t>(row) * row_bytes_;
  std::shared_ptr<std::byte> owner(at, Letter{{this, row, version}},
                                   PlaceAllocator<std::byte>(shared_from_this(), row));
  return Tensor(type_, row_shape_, std::move(owner));
}

void BatchBlock::release(std::int64_t row) noexcept { change(row, State::handed_out, State::free); }

Tensor BatchBlock::tensor() const {
  Shape shape = row_shape_;
  shape.insert(shape.begin(), rows_);
  return Tensor(type_, std::move(shape), memory_);
}

BatchBlock::Row BatchBlock::row_of(const Tensor& tensor) noexcept {
  const auto* const letter = std::get_deleter<Letter>(tensor.owner());
  if (letter == nullptr) return {};
  const BatchBlock& block = *letter->row.block;
  const std::byte* const begin = block.memory_.get() + static_cast<std::size_t>(letter->row.index) * block.row_bytes_;
  const bool is_whole = tensor.data() == begin && block.holds(tensor.dtype(), tensor.shape());
  return is_whole ? letter->row : Row();
}

std::int64_t rows_taken_first(std::int64_t capacity, std::size_t row_bytes) noexcept {
  if (row_bytes == 0) return capacity;
  const auto bytes = static_cast<std::int64_t>(row_bytes);
  const std::int64_t affordable = std::max<std::int64_t>(most_bytes_at_once / bytes, 1);
  return std::min({capacity, affordable, std::max(rows_at_once, bytes_at_once / bytes)});
}

bool takes_batch_at_once(std::int64_t capacity, std::size_t row_bytes) noexcept {
  return rows_taken_first(capacity, row_bytes) == capacity;
}

// Several blocks are open at a time, and the memory budget does not count their places: a quarter of what the rows hold
// at most. To copy a small row costs nothing beside its call.
bool is_worth_places(std::int64_t rows, std::size_t row_bytes) noexcept {
  const std::int64_t bytes = rows * static_cast<std::int64_t>(row_bytes);
  return BatchBlock::bytes_of_places(rows) <= std::max(bytes_of_few_places, bytes / 4);
}

std::int64_t& copied_bytes_of_thread() noexcept {
  thread_local std::int64_t bytes = 0;
  return bytes;
}

}  // namespace penstock::detail
