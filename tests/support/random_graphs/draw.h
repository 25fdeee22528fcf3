// How the numbers of an op in a random graph are drawn: what cases (tests/ops/NAME_case.h) draw with.
#pragma once

#include <cstdint>

#include "tests/model/list_model.h"
#include "tests/support/random.h"
#include "tests/support/random_graphs/how.h"

namespace random_graphs {

using penstock::test::Random;

struct Limits {
  std::int64_t ops = 8;
  std::int64_t elements = 400;  // delivered
  std::int64_t work = 3'000;    // read from the source
  bool jitter = true;
  bool faults = false;  // most functions fail now and then, each by whatever can be thrown
};

// What is known of the elements between two ops, so that the next one can be written in C++ and makes sense.
struct Elements {
  // `value` is dynamic; `pair`: of a number and a value
  enum class Type { number, name, value, numbers, names, values, pair };
  Type type = Type::number;
  bool has_lists = false;
  bool endless = false;    // a repeat for ever waits for a take
  bool arbitrary = false;  // their order is not known: nothing may follow that depends on it

  bool is_batch() const { return type == Type::numbers || type == Type::names || type == Type::values; }
  bool is_pair() const { return type == Type::pair; }
  bool is_value() const { return type == Type::value; }
  // Of a list of such elements, and of an element of such a list.
  Type list_type() const { return static_cast<Type>(static_cast<int>(type) + kSingleTypes); }
  Type row_type() const { return static_cast<Type>(static_cast<int>(type) - kSingleTypes); }

 private:
  static constexpr int kSingleTypes = 3;  // number, name, value, and then their lists
};

struct Draw {
  Random& random;
  const Limits& limits;
  const Elements& in;  // what comes before the op

  model::Modulus modulus();
  model::Modulus sometimes();  // of failures

  // What all sources have: their elements.
  void source(model::Op& op);

  // Which values a function fails on and keeps, and what it computes.
  void function(model::Op& op);

  // How a function is called: order, parallelism, with a Context or without, and how unevenly.
  void calls(model::Op& op, How& how);
};

}  // namespace random_graphs
