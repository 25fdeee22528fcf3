#include "lib/graph/path.h"

#include <gtest/gtest.h>

#include <set>

namespace penstock::graph {
namespace {

TEST(Path, OfAChainGivesEachOpItsPositionAsKey) {
  for (const int position : {0, 1, 17}) EXPECT_EQ(Path().random_key(position), static_cast<std::uint64_t>(position));
}

TEST(Path, ThroughTheFirstInputIsTheSame) {
  EXPECT_EQ(Path().through(0, 5).random_key(2), Path().random_key(2));
  EXPECT_EQ(Path().through(1, 5).through(0, 3).random_key(2), Path().through(1, 5).random_key(2));
}

// Two inputs of one op, the same input of two, and one inside the other; a hundred ops of each.
TEST(Path, TellsTheOpsOfAllBranchesApart) {
  const Path branches[] = {Path(),
                           Path().through(1, 5),
                           Path().through(2, 5),
                           Path().through(1, 6),
                           Path().through(1, 5).through(1, 2),
                           Path().through(1, 2).through(1, 5)};
  std::set<std::uint64_t> keys;
  for (const Path& branch : branches) {
    for (int position = 0; position < 100; ++position) keys.insert(branch.random_key(position));
  }
  EXPECT_EQ(keys.size(), 600u);
}

}  // namespace
}  // namespace penstock::graph
