// Batches of elements that differ in length, one behind the other, with nothing in between: what
// Dataset::ragged_batch() gives.
//
//  ragged batch of Tensor [length, ...]                 -> Ragged<Tensor>: values [sum of lengths, ...]
//  of a std::vector of numbers                          -> Ragged<Tensor>; of std::arrays values [sum of lengths, N]
//  of any other std::vector<V>                          -> Ragged<std::vector<V>>
//  of a struct with ps::Fields                          -> RaggedBatch<Example>: a column per field, as above
//  of anything else                                     -> what batch() makes of it
//
//   for (auto&& batch : sentences.ragged_batch(32)) {
//     auto& [values, row_splits] = batch.column<&Sentence::tokens>();  // Tensor i32 [sum of lengths], 33 places
//     step(values, row_splits);
//   }
//
// A type of your own can say otherwise by specialising RaggedCollate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <penstock/batch.h>
#include <penstock/detail/rows.h>
#include <penstock/tensor.h>

#pragma GCC visibility push(default)

namespace penstock {

// Row i is what `values` has from row_splits[i] up to row_splits[i + 1]; the first of these is 0, the last one the
// number of all values.
template <class V> struct Ragged {
  V values = {};
  std::vector<std::int64_t> row_splits = {0};

  std::int64_t size() const noexcept { return row_splits.empty() ? 0 : std::ssize(row_splits) - 1; }  // rows
};

namespace detail {
// Tensors of one field until they are put together, in the memory of the batch.
class RaggedRows {
 public:
  explicit RaggedRows(std::size_t capacity);
  void check(DType type, const Shape& shape) const;
  void add(RowView row);  // its owner lives until it is copied
  Ragged<Tensor> finish(const RowCopied& copied);

 private:
  std::vector<std::int64_t> row_splits() const;

  std::vector<RowView> rows_;
};

// Error(invalid_argument) unless these are the row_splits of so many values.
void check_row_splits(const std::vector<std::int64_t>& splits, std::int64_t values);

template <class V> struct Bytes<Ragged<V>> : SumBytes<Ragged<V>, V, std::vector<std::int64_t>> {
  static std::size_t of(const Ragged<V>& ragged) {
    return Bytes<V>::of(ragged.values) + Bytes<std::vector<std::int64_t>>::of(ragged.row_splits);
  }
};
}  // namespace detail

// Customisation point of ragged_batch(), as Collate is of batch().
template <class T> struct RaggedCollate : Collate<T> {};
template <class T> using RaggedBatch = typename RaggedCollate<T>::Result;

template <> struct RaggedCollate<Tensor> {
  using Result = Ragged<Tensor>;
  struct Builder : detail::RowsBuilder<detail::RowOfTensor, detail::RaggedRows> {
    using RowsBuilder::RowsBuilder;
    void check(const Tensor& row) const { rows().check(row.dtype(), row.shape()); }
  };
};

template <detail::NumberRow T> struct RaggedCollate<T> {
  using Result = Ragged<Tensor>;
  struct Builder : detail::RowsBuilder<detail::RowOfNumbers<T>, detail::RaggedRows> {
    using Builder::RowsBuilder::RowsBuilder;
    void check(const T&) const {}
  };
};

template <class V>
requires(!detail::NumberRow<std::vector<V>>) struct RaggedCollate<std::vector<V>> {
  using Result = Ragged<std::vector<V>>;
  class Builder {
   public:
    explicit Builder(std::size_t) {}
    void check(const std::vector<V>&) const {}
    void add(std::vector<V> row) {
      batch_.values.insert(batch_.values.end(), std::move_iterator(row.begin()), std::move_iterator(row.end()));
      batch_.row_splits.push_back(std::ssize(batch_.values));
    }
    Result finish() { return std::move(batch_); }

   private:
    Result batch_;
  };
};

template <HasFields T> struct RaggedCollate<T> : detail::CollateFields<T, RaggedCollate> {};
template <class First, class... More>
requires Batchable<std::tuple<First, More...>>
struct RaggedCollate<std::tuple<First, More...>> : detail::CollateParts<std::tuple<First, More...>, RaggedCollate> {
};

// Rows are views of the batch's memory: nothing is copied. Error(invalid_argument) if row_splits do not fit the values.
template <> struct Unbatch<Ragged<Tensor>> {
  using value_type = Tensor;
  static std::vector<Tensor> apart(const Ragged<Tensor>& batch);
};

template <class V> struct Unbatch<Ragged<std::vector<V>>> {
  using value_type = std::vector<V>;
  static std::vector<std::vector<V>> apart(Ragged<std::vector<V>> batch) {
    detail::check_row_splits(batch.row_splits, std::ssize(batch.values));
    std::vector<std::vector<V>> rows;
    const auto place = [&](std::int64_t i) {
      return std::move_iterator(batch.values.begin() + batch.row_splits[static_cast<std::size_t>(i)]);
    };
    for (std::int64_t i = 0; i < batch.size(); ++i) rows.emplace_back(place(i), place(i + 1));
    return rows;
  }
};

}  // namespace penstock

#pragma GCC visibility pop
