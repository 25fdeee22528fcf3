// Row: the elements of golden pipelines. Which components they have, and of which shapes, only the case file tells.
//
// It is what a user with dynamic types would write: a payload type of his own, which batch(),
// unbatch() and the memory budget understand through the library's three customisation points.
#pragma once

#include <penstock/penstock.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace golden {

// One tensor of i64 per component; a number is a tensor of rank 0.
struct Row {
  std::vector<penstock::Tensor> components;
};

// The same shapes and numbers.
bool operator==(const Row& a, const Row& b);

// Of all components.
std::size_t bytes_of(const Row& row);

// Error(invalid_argument) unless the row has as many components as its batch, 0: which has no row yet.
void check_components(const Row& row, std::size_t in_batch);

// A batch of rows is a row: each of its components is what Column makes of those of the rows.
template <class Column, class... Settings> class RowsTogether {
 public:
  explicit RowsTogether(std::size_t capacity, const Settings&... settings) : empty_(capacity, settings...) {}
  void check(const Row& row) const {
    check_components(row, columns_.size());
    for (std::size_t i = 0; i < row.components.size(); ++i)
      (columns_.empty() ? empty_ : columns_[i]).check(row.components[i]);
  }
  void add(Row row) {
    while (columns_.size() < row.components.size()) columns_.push_back(empty_);
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].add(row.components[i]);
  }
  Row finish() {
    Row batch;
    for (Column& column : columns_) batch.components.push_back(column.finish());
    columns_.clear();
    return batch;
  }

 private:
  Column empty_;
  std::vector<Column> columns_;
};
using RowBuilder = RowsTogether<penstock::Collate<penstock::Tensor>::Builder>;

// Entry i of every component, for all i. Error(invalid_argument) unless all have the same number of entries.
std::vector<Row> apart(const Row& batch);

}  // namespace golden

template <> struct std::hash<golden::Row> { std::size_t operator()(const golden::Row& row) const noexcept; };

template <> struct penstock::Collate<golden::Row> {
  using Result = golden::Row;
  using Builder = golden::RowBuilder;
};

template <> struct penstock::PaddedCollate<golden::Row> {
  using Result = golden::Row;
  using Builder = golden::RowsTogether<penstock::PaddedCollate<penstock::Tensor>::Builder, penstock::Padding>;
  static void check(const Padding& padding) { PaddedCollate<Tensor>::check(padding); }
};

template <> struct penstock::Unbatch<golden::Row> {
  using value_type = golden::Row;
  static std::vector<golden::Row> apart(const golden::Row& batch) { return golden::apart(batch); }
};
