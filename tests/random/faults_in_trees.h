// How functions and sources of random trees fail: whatever is thrown wherever, and completions without an answer.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/random_graphs/faults.h"

namespace trees {

inline bool fails(std::int64_t value, std::int64_t modulus) { return value % modulus == 1; }

[[noreturn]] inline void throw_any(std::int64_t value) {
  random_graphs::throw_fault({.any_fault = true}, model::number(value));
}

// Gives `count` numbers from `begin` on; those that fail have their place among them.
inline penstock::Dataset<std::int64_t> failing_generator(std::int64_t begin, std::int64_t count, std::int64_t modulus) {
  return penstock::from_generator([=](penstock::Pass) {
    return [=, next = begin]() mutable -> std::optional<std::int64_t> {
      if (next == begin + count) return std::nullopt;
      const std::int64_t value = next++;
      if (fails(value, modulus)) throw_any(value);
      return value;
    };
  });
}

// Answers at once. Where it fails: with an error, not at all, or by throwing.
class AnswersSome final : public penstock::ElementwiseOp {
 public:
  explicit AnswersSome(std::int64_t modulus) : modulus_(modulus) {}
  std::string name() const override { return "answers_some"; }
  std::string parameters() const override { return std::to_string(modulus_); }
  penstock::Form form() const override { return penstock::Form::completes_later; }
  penstock::Flow flow(const penstock::Flow& input) const override { return input; }
  bool may_fan_out() const override { return false; }

  void start(penstock::Element value, penstock::Context&, penstock::Completion completion) const override {
    const auto number = value.get<std::int64_t>();
    if (!fails(number, modulus_)) return completion.complete(std::move(value));
    if (number % 3 == 0) return;
    try {
      throw_any(number);
    } catch (...) {
      if (number % 3 == 1) throw;
      completion.fail(std::current_exception());
    }
  }

 private:
  const std::int64_t modulus_;
};

// The same numbers; some of them fail in one of the ways that functions have.
inline penstock::Dataset<std::int64_t> with_faults(const penstock::Dataset<std::int64_t>& in, std::int64_t modulus,
                                                   std::uint64_t way) {
  const auto checked = [modulus](std::int64_t value) {
    if (fails(value, modulus)) throw_any(value);
    return value;
  };
  switch (way % 4) {
    case 0: return in.map(checked);
    case 1: return in.map(checked, {.parallelism = 2, .blocks = true});
    case 2: return in.filter([checked](std::int64_t value) { return checked(value) == value; });
    default: return in.then<std::int64_t>(std::make_shared<AnswersSome>(modulus));
  }
}

}  // namespace trees
