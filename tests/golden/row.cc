#include "tests/golden/row.h"

#include <string>

namespace golden {

namespace ps = penstock;

namespace {

[[noreturn]] void refuse(const std::string& text) { throw ps::Error(ps::ErrorCode::invalid_argument, text); }

std::int64_t entries(const Row& batch) {
  if (batch.components.empty()) refuse("cannot take a row without components apart");
  const ps::Shape& first = batch.components.front().shape();
  for (const ps::Tensor& component : batch.components) {
    if (component.rank() == 0) refuse("cannot take a number apart");
    if (component.shape().front() != first.front()) refuse("components differ in their number of entries");
  }
  return first.front();
}

}  // namespace

bool operator==(const Row& a, const Row& b) { return a.components == b.components; }

std::size_t bytes_of(const Row& row) { return ps::bytes_of(row.components); }

void check_components(const Row& row, std::size_t in_batch) {
  if (in_batch > 0 && row.components.size() != in_batch)
    refuse("rows of one batch differ in their number of components");
}

std::vector<Row> apart(const Row& batch) {
  std::vector<Row> rows(static_cast<std::size_t>(entries(batch)));
  for (const ps::Tensor& component : batch.components)
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i].components.push_back(component.row(static_cast<std::int64_t>(i)));
  return rows;
}

}  // namespace golden

std::size_t std::hash<golden::Row>::operator()(const golden::Row& row) const noexcept {
  std::uint64_t mixed = row.components.size();
  for (const penstock::Tensor& component : row.components)
    for (const std::int64_t value : component.values<std::int64_t>())
      mixed = penstock::mix64(mixed ^ static_cast<std::uint64_t>(value));
  return mixed;
}
