// How the cases' ops are built into random graphs: over elements of type T, with functions that make Values.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/harness.h"
#include "tests/support/random_graphs/graph_builder.h"
#include "tests/support/random_graphs/jitter.h"
#include "tests/support/random_graphs/own_ops.h"
#include "tests/support/random_graphs/payload.h"

namespace random_graphs {

template <class T> class ValueHarness : public op_cases::Harness {
 public:
  using Made = Value;

  ValueHarness(const model::Op& drawn, const How& written, const Workbench& bench)
      : Harness{drawn, written}, bench_(&bench) {}

  const std::string& folder() const { return bench_->folder; }

  template <class Result> static Result made(Result result) { return result; }
  [[noreturn]] void fail(const Value& value) const { throw_fault(how, value); }
  void begin_call(const Value& value) const {
    jitter(how, model::key(value));
    if (op.fails.holds(value)) fail(value);
  }

  template <class Function> auto function(Function function) const {
    return [harness = *this, function](T x) {
      const Value value = value_of(std::move(x));
      harness.begin_call(value);
      return function(value);
    };
  }
  template <class Function> auto in_context(Function function) const {
    return [harness = *this, function](const T& x, ps::Context& context) {
      if (harness.how.reserves > 0) context.reserve(static_cast<std::size_t>(harness.how.reserves));
      const Value value = value_of(x);
      harness.begin_call(value);
      return function(value, origin_of(context.stamp()));
    };
  }
  template <class Function> auto function_to_dataset(Function function) const {
    return [call = this->function(function)](T x) { return ps::from_vector(call(std::move(x))).prefetch(2); };
  }
  template <class Function> auto predicate(Function function) const {
    return [harness = *this, function](const T& x) {
      const Value value = value_of(x);
      harness.begin_call(value);
      return function(value);
    };
  }

  // function(state, value) gives the next state, and what takes the value's place.
  template <class Function> auto scanning(Function function) const {
    return [harness = *this, function](const std::int64_t& state, T x) {
      const Value value = value_of(std::move(x));
      harness.begin_call(value);
      auto [next, answer] = function(state, value);
      return ps::Scanned{next, std::move(answer)};
    };
  }

  auto own_elementwise(const ps::Dataset<T>& in) const {
    return in.template then<Value>(std::make_shared<OwnElementwise<T>>(op, how));
  }
  auto own_stream(const ps::Dataset<T>& in) const {
    return in.template then<Value>(std::make_shared<OwnStream<T>>(op, how));
  }
  auto own_async(const ps::Dataset<T>& in) const {
    return in.template then<Value>(std::make_shared<OwnAsync<T>>(op, how, bench_->courier));
  }

 private:
  const Workbench* bench_;
};

}  // namespace random_graphs
