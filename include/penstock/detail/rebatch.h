// Batches cut anew: what rebatch runs. Nothing here is meant to be called by users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <type_traits>
#include <utility>

#include <penstock/batch.h>
#include <penstock/element.h>

#pragma GCC visibility push(default)

namespace penstock::detail {

// Rows of batches that have come, in their order.
class RowQueue {
 public:
  virtual ~RowQueue() = default;
  virtual std::int64_t size() const noexcept = 0;
  virtual void add(Element&& batch) = 0;
  // A batch of the first `count` rows, count <= size(). If they do not fit each other, what is thrown says so, and they
  // are gone.
  virtual Element take(std::int64_t count) = 0;
  virtual void drop(std::int64_t count) = 0;  // the first rows, count <= size()
};
class RowQueueFactory {
 public:
  virtual ~RowQueueFactory() = default;
  virtual std::unique_ptr<RowQueue> open() const = 0;
};
using RowQueueFactoryRef = std::shared_ptr<const RowQueueFactory>;

// Whether batch() of its rows makes a T of it again.
template <class T> struct IsBatch : std::false_type {};
template <Unbatchable T>
requires Batchable<typename Unbatch<T>::value_type>
struct IsBatch<T> : std::is_same<Batch<typename Unbatch<T>::value_type>, T> {
};

template <class T> class TypedRowQueue final : public RowQueue {
 public:
  std::int64_t size() const noexcept override { return static_cast<std::int64_t>(rows_.size()); }
  void add(Element&& batch) override {
    for (auto&& row : Unbatch<T>::apart(std::move(batch.unchecked<T>())))  // of bool: not a reference
      rows_.push_back(static_cast<Row>(std::move(row)));
    batch.reset();
  }
  Element take(std::int64_t count) override {
    std::deque<Row> rows;
    for (; count > 0; --count) {
      rows.push_back(std::move(rows_.front()));
      rows_.pop_front();
    }
    typename Collate<Row>::Builder builder(rows.size());
    for (Row& row : rows) {
      builder.check(row);
      builder.add(std::move(row));
    }
    return Element(builder.finish());
  }
  void drop(std::int64_t count) override {
    for (; count > 0; --count) rows_.pop_front();  // erase() would ask rows to be assignable
  }

 private:
  using Row = typename Unbatch<T>::value_type;
  std::deque<Row> rows_;
};
template <class T> class TypedRowQueueFactory final : public RowQueueFactory {
 public:
  std::unique_ptr<RowQueue> open() const override { return std::make_unique<TypedRowQueue<T>>(); }
};

}  // namespace penstock::detail

#pragma GCC visibility pop
