// Who shares the machine, and what a launcher may say without breaking a run.
#include "lib/runtime/local_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "tests/engine/support.h"

namespace penstock::runtime {
namespace {

using ::testing::HasSubstr;

LocalRanks ranks_of(const std::map<std::string, std::string>& variables) {
  return local_ranks([&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(LocalRanks, AreOneWithoutALauncher) {
  EXPECT_EQ(ranks_of({}).count, 1);
  EXPECT_EQ(ranks_of({}).warning, "");
}

TEST(LocalRanks, AreWhatTheLauncherSays) {
  const LocalRanks ranks =
      ranks_of({{"WORLD_SIZE", "8"}, {"RANK", "5"}, {"LOCAL_WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(ranks.count, 4);
  EXPECT_EQ(ranks.warning, "");
}

TEST(LocalRanks, AreOneWithAWarningWhereTheLauncherDoesNotTell) {
  const LocalRanks ranks = ranks_of({{"WORLD_SIZE", "8"}, {"RANK", "5"}});
  EXPECT_EQ(ranks.count, 1);
  EXPECT_THAT(ranks.warning, HasSubstr("rank 5 of 8"));
}

TEST(LocalRanks, AreOneWithAWarningWhereTheEnvironmentContradictsItself) {
  const LocalRanks ranks = ranks_of({{"WORLD_SIZE", "8"}});
  EXPECT_EQ(ranks.count, 1);
  EXPECT_THAT(ranks.warning, HasSubstr("RANK"));
  EXPECT_EQ(ranks_of({{"WORLD_SIZE", "8"}, {"RANK", "many"}}).count, 1);
}

// Asked by the launcher's variables as they are: CMakeLists.txt has this run as one of four, too.
TEST(LocalRanks, ShareTheThreadsForCallsThatBlock) {
  const char* const ranks = std::getenv("LOCAL_WORLD_SIZE");
  const std::int64_t mine = 256 / (ranks == nullptr ? 1 : std::stoi(ranks));
  auto run = range(100'000'000).map([](std::int64_t value) { return value; }).start({.open_io = 256, .tune = false});
  EXPECT_TRUE(testing::eventually([&] { return run.next() && run.snapshot().open_io_limit == mine; }));
}

}  // namespace
}  // namespace penstock::runtime
