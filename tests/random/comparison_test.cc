#include "tests/support/random_graphs/comparison.h"

#include <gtest/gtest.h>

namespace random_graphs {
namespace {

Delivery failure(const std::string& cause) {
  Delivery delivery;
  delivery.failed = true;
  delivery.place.op = "map";
  delivery.place.position = 1;
  delivery.place.source_ordinal = 0;
  delivery.cause = cause;
  return delivery;
}

TEST(Comparison, ItemOfAnyTextLeavesToAnItemWhatThatAsksFor) {
  const Graph graph{.ops = {{.kind = model::Kind::range}, {.kind = model::Kind::map}}, .how = {}, .arbitrary = true};
  const Items items{{.failed_op = 1, .group = 1}, {.failed_op = 1, .cause = "fails", .group = 1}};
  const Workbench bench;
  const Comparison comparison{.graph = graph, .bench = bench};
  EXPECT_NO_THROW(comparison.check(items, std::vector{failure("fails"), failure("lost")}, 0, true));
  EXPECT_THROW(comparison.check(items, std::vector{failure("lost"), failure("gone")}, 0, true), Failure);
}

}  // namespace
}  // namespace random_graphs
