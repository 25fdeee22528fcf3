// Results that are there and have no slots yet.
#include "lib/exec/folded.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

TEST(Folded, SumsUpWhatItsGroupsHold) {
  StageSigns signs;
  Folded folded(signs);
  Group first, second;
  EXPECT_EQ(folded.count(first, 1000, 0), 0);
  EXPECT_EQ(folded.count(second, 500, 0), 0);
  EXPECT_EQ(folded.bytes(), first.folded.bytes + second.folded.bytes);
  EXPECT_EQ(folded.count(first, 700, 0), 1000) << "what it had before";
  EXPECT_EQ(folded.bytes(), 700 + 500);
  EXPECT_EQ(folded.count(second, 0, 0), 500);
  EXPECT_EQ(folded.count(first, 0, 0), 700);
  EXPECT_EQ(folded.bytes(), 0);
}

TEST(Folded, DoesNotCountTheShareOfAListWhoseResultsHaveLeft) {
  StageSigns signs;
  Folded folded(signs);
  Group group, other;
  folded.count(other, 300, 100);
  folded.count(group, 1000, 400);
  EXPECT_EQ(folded.bytes(), 600 + 200);
  EXPECT_EQ(group.folded.hollow_bytes, 400);
  folded.count(group, 900, 800);
  EXPECT_EQ(folded.bytes(), 100 + 200);
  folded.count(group, 0, 0);
  EXPECT_EQ(folded.bytes(), 200);
  EXPECT_EQ(group.folded.hollow_bytes, 0);
}

TEST(Folded, GivesGroupsInTheOrderInWhichTheirResultsHaveLeft) {
  StageSigns signs;
  Folded folded(signs);
  Group older, younger;
  older.place.number = 0, younger.place.number = 1;
  EXPECT_TRUE(folded.empty());
  EXPECT_FALSE(signs.has_folded);
  folded.put_in_line(younger);  // where results leave in any order
  folded.put_in_line(older);
  EXPECT_EQ(folded.size(), 2);
  EXPECT_TRUE(signs.has_folded);
  EXPECT_EQ(&folded.take_first(), &younger);
  EXPECT_TRUE(signs.has_folded);
  EXPECT_EQ(&folded.take_first(), &older);
  EXPECT_FALSE(signs.has_folded);
  EXPECT_TRUE(folded.empty());
}

TEST(Folded, LetsAllGo) {
  StageSigns signs;
  Folded folded(signs);
  Group group;
  folded.put_in_line(group);
  folded.clear();
  EXPECT_TRUE(folded.empty());
  EXPECT_FALSE(signs.has_folded);
}

}  // namespace
}  // namespace penstock::exec
