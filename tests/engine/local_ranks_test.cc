// Who shares the machine, and what a launcher may say without breaking a run.
#include "lib/runtime/local_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

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
  const LocalRanks ranks = ranks_of({{"WORLD_SIZE", "8"}, {"RANK", "5"}, {"LOCAL_WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}});
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

}  // namespace
}  // namespace penstock::runtime
