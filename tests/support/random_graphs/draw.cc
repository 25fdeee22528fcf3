#include "tests/support/random_graphs/draw.h"

#include <vector>

namespace random_graphs {
namespace {

// Bytes that no budget of these tests has.
constexpr std::int64_t kMoreThanThereIs = std::int64_t{1} << 40;

}  // namespace

model::Modulus Draw::modulus() {
  const std::int64_t mod = random.between(2, 9);
  return {mod, random.below(mod)};
}

model::Modulus Draw::sometimes() {
  const bool does = limits.faults ? !random.one_in(4) : random.one_in(3);
  return does ? modulus() : model::Modulus{};
}

void Draw::source(model::Op& op) {
  op.count = random.one_in(10) ? random.below(2) : random.between(1, 30);
  op.first = random.between(-5, 50);
  op.step = random.pick(std::vector<std::int64_t>{1, 1, 2, 7, -3});
}

void Draw::function(model::Op& op) {
  op.fails = sometimes();
  op.keeps = modulus();
  op.first = random.below(20);
  op.step = random.between(1, 3);
}

void Draw::calls(model::Op& op, How& how) {
  op.arbitrary = !in.endless && random.one_in(8);
  how.parallelism = random.one_in(2) ? 0 : random.between(1, 8);
  how.blocks = static_cast<int>(random.between(-1, 1));
  how.with_context = op.stamped || random.one_in(3);
  how.reserves = how.with_context && random.one_in(3) ? random.between(1, 3000) : 0;
  if (limits.faults && how.with_context && random.one_in(8)) how.reserves = kMoreThanThereIs;
  how.as_dataset = random.one_in(2);
  how.hinted = random.one_in(2);
  const std::int64_t jitter = random.one_in(2) ? random.between(1, how.blocks == 1 ? 300 : 60) : 0;
  how.jitter_us = limits.jitter ? jitter : 0;
}

}  // namespace random_graphs
