// BatchBlock: memory for one batch, in which each sample is written where it will lie, long before the batch is put
// together.
//
// A row is somebody's alone: it is free, or handed out as a Tensor, or taken for good by the batch. It is free again
// once the last copy of that Tensor is gone. So whoever hands rows out may guess wrong about which sample will stand
// where: then a sample is copied into its place, if that is free, or the batch moves to other memory
// (Collate<Tensor>::Builder), and a row that a consumer sees is written by nobody.
//
// Members may be called from any thread. To hand a row out allocates nothing.
#pragma once

#include <penstock/tensor.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace penstock::detail {

// Who decides which row a sample gets, and wants to know how wrong that was.
class RowPlanner {
 public:
  virtual ~RowPlanner() = default;
  // A row of `version` lay `drift` rows behind its place in the batch.
  virtual void correct(std::int64_t drift, std::uint32_t version) noexcept = 0;
};

class BatchBlock : public std::enable_shared_from_this<BatchBlock> {
 public:
  // Where a tensor lies. `version` is what the planner said of the row when it was handed out.
  struct Row {
    BatchBlock* block = nullptr;  // null: not in such memory, or not a whole row of it
    std::int64_t index = 0;
    std::uint32_t version = 0;
  };

  // Blocks with neighbouring numbers are batches that follow each other. Throws std::bad_alloc. `rows` and the bytes of
  // a row must not be 0.
  BatchBlock(std::int64_t number, std::int64_t rows, DType type, const Shape& row_shape,
             std::weak_ptr<RowPlanner> planner);

  // The row for a sample; nothing if it is not free.
  std::optional<Tensor> hand_out(std::int64_t row, std::uint32_t version);

  // For the batch: of a row that was handed out, by who holds it, and of one that is free. False: it is not.
  bool keep(std::int64_t row) noexcept { return change(row, State::handed_out, State::taken); }
  bool take(std::int64_t row) noexcept { return change(row, State::free, State::taken); }

  // All rows. The tensor does not keep the block.
  Tensor tensor() const;

  bool holds(DType type, const Shape& row_shape) const noexcept { return type == type_ && row_shape == row_shape_; }
  std::int64_t number() const noexcept { return number_; }
  std::int64_t rows() const noexcept { return rows_; }
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(rows_) * row_bytes_; }
  std::shared_ptr<RowPlanner> planner() const noexcept { return planner_.lock(); }

  static Row row_of(const Tensor& tensor) noexcept;

  // What the places of so many rows hold, beside the rows themselves.
  static constexpr std::int64_t bytes_of_places(std::int64_t rows) noexcept {
    return rows * static_cast<std::int64_t>(sizeof(Place));
  }

 private:
  enum class State : std::uint8_t { free, handed_out, taken };
  struct Letter;
  template <class T> class PlaceAllocator;

  // The reference counts of a row that is handed out lie here.
  struct Place {
    alignas(std::max_align_t) std::array<std::byte, 112> counts;
    std::atomic<State> state{State::free};
  };

  bool change(std::int64_t row, State from, State to) noexcept {
    return place(row).state.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
  void release(std::int64_t row) noexcept;
  Place& place(std::int64_t row) noexcept { return places_[static_cast<std::size_t>(row)]; }

  const std::int64_t number_;
  const std::int64_t rows_;
  const DType type_;
  const Shape row_shape_;
  const std::size_t row_bytes_;
  const std::weak_ptr<RowPlanner> planner_;
  const std::shared_ptr<std::byte> memory_;
  const std::unique_ptr<Place[]> places_;
};
using BatchBlockRef = std::shared_ptr<BatchBlock>;

// Whether memory for a whole batch is taken at once: not where it is more than any batch is likely to need, or than it
// may ever fill.
bool takes_batch_at_once(std::int64_t capacity, std::size_t row_bytes) noexcept;
// Whether rows are worth a place each: not the smallest of very many, whose places would hold more than they do.
bool is_worth_places(std::int64_t rows, std::size_t row_bytes) noexcept;
// For how many rows it is taken at first.
std::int64_t rows_taken_first(std::int64_t capacity, std::size_t row_bytes) noexcept;

// Bytes of samples that this thread has copied into batches. Only grows.
std::int64_t& copied_bytes_of_thread() noexcept;

}  // namespace penstock::detail
