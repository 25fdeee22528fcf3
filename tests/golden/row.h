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

// A batch of rows is a row: each of its components is a stack.
class RowBuilder {
 public:
  explicit RowBuilder(std::size_t capacity) : capacity_(capacity) {}
  void check(const Row& row) const;
  void add(Row row);
  Row finish();

 private:
  using Column = penstock::Collate<penstock::Tensor>::Builder;

  std::size_t capacity_;
  std::vector<Column> columns_;
};

// Entry i of every component, for all i. Error(invalid_argument) unless all have the same number of entries.
std::vector<Row> apart(const Row& batch);

}  // namespace golden

template <> struct std::hash<golden::Row> { std::size_t operator()(const golden::Row& row) const noexcept; };

template <> struct penstock::Collate<golden::Row> {
  using Result = golden::Row;
  using Builder = golden::RowBuilder;
};

template <> struct penstock::Unbatch<golden::Row> {
  using value_type = golden::Row;
  static std::vector<golden::Row> apart(const golden::Row& batch) { return golden::apart(batch); }
};
