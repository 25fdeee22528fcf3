// How the cases' ops are built into the suite: over tokens, with functions that are called unevenly and fail where the
// feed and the op's description ask for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/flawed_ops.h"
#include "tests/conformance/own_ops.h"
#include "tests/ops/harness.h"

namespace conformance {

template <class T> class TokenHarness : public op_cases::Harness {
 public:
  using Made = T;

  TokenHarness(const model::Op& described, const op_cases::How& written, const Feed& feed)
      : Harness{described, written}, feed_(feed) {}

  const std::string& folder() const { return feed_.folder; }

  T made(const model::Value& value) const { return T(value.number, feed_.census); }
  std::vector<T> made(const std::vector<model::Value>& values) const {
    std::vector<T> tokens;
    for (const model::Value& value : values) tokens.push_back(made(value));
    return tokens;
  }
  [[noreturn]] void fail(const model::Value& value) const { random_graphs::throw_fails_on(value); }
  void begin_call(const model::Value& value) const {
    feed_.be_uneven(value.number + 31);
    fail_if(op.fails, value.number);
  }

  template <class Function> auto function(Function function) const {
    return [harness = *this, function](T token) { return harness.made(harness.call(function, token)); };
  }
  template <class Function> auto in_context(Function function) const {
    return [harness = *this, function](const T& token, ps::Context&) {
      return harness.made(harness.call(function, token));
    };
  }
  template <class Function> auto predicate(Function function) const {
    return [harness = *this, function](const T& token) { return harness.call(function, token); };
  }
  template <class Function> auto scanning(Function function) const {
    return [harness = *this, function](const std::int64_t& state, T token) {
      auto [next, answer] = harness.call([&](const model::Value& value) { return function(state, value); }, token);
      return ps::Scanned{next, harness.made(answer)};
    };
  }
  // The results one by one.
  template <class Function> auto function_to_dataset(Function function) const {
    return [harness = *this, function](T token) {
      return ps::from_generator([harness, values = harness.call(function, token)](ps::Pass) {
        return [harness, values, i = std::size_t{0}]() mutable -> std::optional<T> {
          if (i == values.size()) return std::nullopt;
          return harness.made(values[i++]);
        };
      });
    };
  }

  auto own_elementwise(const ps::Dataset<T>& in) const { return own<OwnElementwise<T>>(in); }
  auto own_stream(const ps::Dataset<T>& in) const { return own<OwnStream<T>>(in); }
  auto own_async(const ps::Dataset<T>& in) const { return own<OwnAsync<T>>(in); }

 private:
  template <class Function> auto call(Function function, const T& token) const {
    const model::Value value = model::number(token.number());
    begin_call(value);
    return function(value);
  }
  template <class OwnOp> ps::Dataset<T> own(const ps::Dataset<T>& in) const {
    return in.template then<T>(std::make_shared<OwnOp>(op, feed_));
  }

  Feed feed_;
};

}  // namespace conformance
