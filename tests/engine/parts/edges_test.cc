// Which stage feeds which.
#include "lib/exec/edges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace penstock::exec {
namespace {

std::vector<std::size_t> feeders(const Edges& edges, std::size_t stage) {
  std::vector<std::size_t> from;
  for (const Edge& edge : edges.into(stage)) from.push_back(edge.from);
  return from;
}

// 0 -> 1 -> 4 -> 5 -> outlet
//      2 -> 3 -> 4
Edges joined() { return Edges({{0, 1, 0}, {1, 4, 0}, {2, 3, 0}, {3, 4, 1}, {4, 5, 0}, {5}}); }

TEST(Edges, OfAChainLeadFromEachStageToTheNext) {
  const Edges edges = Edges::chain(3);
  EXPECT_EQ(edges.stages(), 3u);
  EXPECT_EQ(edges.out_of(0).to, 1u);
  EXPECT_EQ(edges.out_of(1).to, 2u);
  EXPECT_EQ(edges.out_of(2).to, kOutlet);
  EXPECT_EQ(feeders(edges, 2), std::vector<std::size_t>{1});
  EXPECT_TRUE(edges.is_source(0));
  EXPECT_FALSE(edges.is_source(1));
  EXPECT_TRUE(edges.is_last(2));
  EXPECT_FALSE(edges.is_last(1));
}

TEST(Edges, OfATreeLeadFromEachInputToItsPort) {
  const Edges edges = joined();
  EXPECT_EQ(feeders(edges, 4), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(edges.into(4)[1].port, 1u);
  EXPECT_TRUE(edges.is_source(2));
  EXPECT_EQ(feeders(edges, 2), std::vector<std::size_t>());
}

TEST(Edges, KnowHowFarTheConsumerIs) {
  const Edges edges = joined();
  EXPECT_EQ(edges.distance(5), 0u);
  EXPECT_EQ(edges.distance(4), 1u);
  EXPECT_EQ(edges.distance(3), 2u);
  EXPECT_EQ(edges.distance(1), 2u) << "no branch is nearer because its number is higher";
}

TEST(Edges, OfNoTreeInPostOrderAreRefused) {
  EXPECT_THROW(Edges({{0, 0, 0}, {1}}), std::invalid_argument) << "a ring";
  EXPECT_THROW(Edges({{0, 2, 0}, {1, 1, 0}, {2}}), std::invalid_argument);
  EXPECT_THROW(Edges({{1, 1, 0}, {0}}), std::invalid_argument) << "not where its stage is";
  EXPECT_THROW(Edges({{0}, {1}}), std::invalid_argument) << "two ends";
  EXPECT_THROW(Edges({{0, 1, 0}}), std::invalid_argument) << "no end";
  EXPECT_THROW(Edges({{0, 2, 0}, {1, 3, 0}, {2, 4, 0}, {3, 4, 1}, {4}}), std::invalid_argument)
      << "branches that are mixed";
  EXPECT_THROW(Edges({{0, 2, 1}, {1, 2, 0}, {2}}), std::invalid_argument) << "the second port comes first";
  EXPECT_THROW(Edges({{0, 2, 0}, {1, 2, 2}, {2}}), std::invalid_argument) << "no port 1";
  EXPECT_THROW(Edges({{0, 1, 1}, {1}}), std::invalid_argument) << "no port 0";
}

}  // namespace
}  // namespace penstock::exec
