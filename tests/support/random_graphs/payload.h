// What travels in random graphs, and how each type is told as a model::Value: numbers and names as
// sources give them, their batches, and Value itself, a dynamic type with customisations of its own.
#pragma once

#include <penstock/penstock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/model/value.h"

namespace model {

inline std::size_t bytes_of(const Value& value) {
  std::size_t bytes = sizeof(Value);
  for (const Value& row : value.rows) bytes += bytes_of(row);
  return bytes;
}

}  // namespace model

template <> struct std::hash<model::Value> {
  std::size_t operator()(const model::Value& value) const noexcept {
    return static_cast<std::size_t>(model::key(value));
  }
};

// Numbers and lists do not go into one batch.
template <> struct penstock::Collate<model::Value> {
  using Result = model::Value;
  class Builder {
   public:
    explicit Builder(std::size_t) {}
    void check(const model::Value& value) const {
      if (!rows_.empty() && rows_.front().is_list != value.is_list)
        throw Error(ErrorCode::invalid_argument, "numbers and lists do not go together");
    }
    void add(model::Value value) { rows_.push_back(std::move(value)); }
    model::Value finish() { return model::list(std::exchange(rows_, {})); }

   private:
    std::vector<model::Value> rows_;
  };
};

// Of values that are lists, the rows.
template <> struct penstock::PaddedCollate<model::Value> {
  using Result = model::Value;
  static void check(const Padding& padding) { detail::check_padding(padding); }
  class Builder : public Collate<model::Value>::Builder {
   public:
    Builder(std::size_t capacity, const Padding& padding)
        : Collate<model::Value>::Builder(capacity), padding_(padding) {}
    void check(const model::Value& value) const {
      Collate<model::Value>::Builder::check(value);
      if (value.is_list) detail::check_length(padding_, value.rows.size());
    }
    void add(model::Value value) {
      longest_ = std::max(longest_, value.rows.size());
      Collate<model::Value>::Builder::add(std::move(value));
    }
    model::Value finish() {
      model::Value batch = Collate<model::Value>::Builder::finish();
      for (model::Value& row : batch.rows)
        if (row.is_list) row.rows.resize(detail::padded_length(padding_, longest_));
      return batch;
    }

   private:
    const Padding& padding_;
    std::size_t longest_ = 0;
  };
};

template <> struct penstock::Unbatch<model::Value> {
  using value_type = model::Value;
  static std::vector<model::Value> apart(model::Value batch) {
    if (!batch.is_list) throw Error(ErrorCode::invalid_argument, "a number has no rows");
    return std::move(batch.rows);
  }
};

namespace random_graphs {

namespace ps = penstock;
using model::Value;

// Of "some/folder/17.jpg": 17.
inline std::int64_t number_in(const std::string& path) { return std::stoll(path.substr(path.rfind('/') + 1)); }

inline Value value_of(std::int64_t x) { return model::number(x); }
inline Value value_of(const std::string& path) { return model::number(number_in(path)); }
inline Value value_of(Value value) { return value; }
template <class T> Value value_of(const std::vector<T>& batch) {
  std::vector<Value> rows;
  for (const T& row : batch) rows.push_back(value_of(row));
  return model::list(std::move(rows));
}
template <class T> Value value_of(const std::tuple<std::int64_t, T>& pair) {
  return model::list({model::number(std::get<0>(pair)), value_of(std::get<1>(pair))});
}

}  // namespace random_graphs
