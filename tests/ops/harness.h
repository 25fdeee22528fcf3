// What cases build with (case.h): the part of a harness that sees the library, and that random graphs and conformance
// suite share.
//
// To it each adds, for elements of its own type: Made, made(), begin_call(), fail(), function(), in_context(),
// function_to_dataset(), predicate(), folder(), and the ops of a user's own.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/case.h"

namespace op_cases {

namespace ps = penstock;

// A source of a user's own.
template <class T> class Table {
 public:
  explicit Table(std::vector<T> rows) : rows_(std::move(rows)) {}
  std::int64_t size() const { return std::ssize(rows_); }
  T at(std::int64_t i) const { return rows_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<T> rows_;
};

struct Harness {
  Op op;
  How how;

  ps::Tunable parallelism() const { return how.parallelism == 0 ? ps::AUTOTUNE : ps::Tunable(how.parallelism); }
  ps::Tunable elements_ahead() const { return how.parallelism == 8 ? ps::AUTOTUNE : ps::Tunable(how.parallelism); }
  ps::Order order() const { return op.arbitrary ? ps::Order::arbitrary : ps::Order::kept; }
  ps::MapOptions map_options() const {
    ps::MapOptions options{.order = order(), .cannot_fail = how.cannot_fail};
    if (how.blocks >= 0) options.blocks = how.blocks == 1;
    return options;
  }

  ps::InterleaveOptions interleave_options() const {
    return {.cycle_length = op.count, .block_length = op.index, .parallelism = parallelism()};
  }

  ps::ShuffleOptions shuffle_options() const {
    return {.seed = how.seed,
            .reshuffle_each_epoch = how.reshuffle,
            .order = how.as_tensorflow ? ps::ShuffleOrder::tensorflow : ps::ShuffleOrder::keyed};
  }

  static auto range(std::int64_t first, std::int64_t last, std::int64_t step) { return ps::range(first, last, step); }
  static auto from_file_list(const std::string& list) { return ps::from_file_list(list); }
  template <class T> static auto from_vector(std::vector<T> values) { return ps::from_vector(std::move(values)); }
  template <class T> static auto from_indexed(std::vector<T> values) {
    return ps::from_indexed(Table<T>(std::move(values)));
  }
  template <class Function> static auto from_generator(Function function) {
    return ps::from_generator(std::move(function));
  }
  // begin(epoch, pass) makes the function that gives the elements of a pass.
  template <class Begin> static auto from_passes(Begin begin) {
    return ps::from_generator([begin = std::move(begin)](ps::Pass pass) { return begin(pass.epoch, pass.pass); });
  }
};

}  // namespace op_cases
