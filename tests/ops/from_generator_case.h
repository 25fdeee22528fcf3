#pragma once

#include <optional>
#include <type_traits>

#include "tests/ops/case.h"

namespace op_cases {

struct from_generator : SourceCase {
  static constexpr bool kCallsFunction = true;

  // Copyable where its harness is: each pass begins with a copy.
  template <class Harness> struct Counting {
    Harness harness;
    std::uint32_t epoch = 0;
    std::uint32_t pass = 0;
    std::int64_t i = 0;

    std::optional<typename Harness::Made> operator()() {
      const Op& op = harness.op;
      if (i == op.count) return std::nullopt;
      Value value = model::source_value(op, i);
      if (op.stamped) value = model::affine(std::move(value), 1, model::stamp_number({epoch, pass, i}));
      ++i;
      harness.begin_call(value);
      return harness.made(std::move(value));
    }
  };

  static auto build(const auto& harness) {
    using Counter = Counting<std::decay_t<decltype(harness)>>;
    if (!harness.how.as_factory) return harness.from_generator(Counter{harness});
    return harness.from_passes([harness](std::uint32_t epoch, std::uint32_t pass) {
      const Value number = model::number(epoch + pass);
      if (harness.op.fails_passes.holds(number)) harness.fail(number);
      return Counter{harness, epoch, pass};
    });
  }
  static void draw(Op& op, How& how, Draw draw) {
    draw.source(op);
    op.lists = draw.random.one_in(2);
    op.fails = draw.sometimes();
    how.as_factory = draw.random.one_in(2);
    op.stamped = how.as_factory && draw.random.one_in(2);
    if (draw.limits.faults && how.as_factory && draw.random.one_in(2)) op.fails_passes = draw.modulus();
  }
  static void after(const Op& op, Elements& out) {
    out.type = Elements::Type::value;
    out.has_lists = op.lists;
  }
  static std::vector<Line> lines() {
    return {{"from_generator", {{.kind = Kind::from_generator}}, {.as_factory = true}}};
  }
};

}  // namespace op_cases
