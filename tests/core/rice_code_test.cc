#include "lib/core/rice_code.h"

#include <gtest/gtest.h>

#include "tests/support/random.h"

namespace penstock {
namespace {

TEST(RiceCode, GivesTheNumbersAgainAndWhatComesBehind) {
  test::Random random(1);
  for (const std::int64_t most : {std::int64_t{1}, std::int64_t{5}, std::int64_t{100'000}, std::int64_t{1} << 60}) {
    for (const std::size_t count : {0u, 1u, 7u, 1000u}) {
      std::vector<std::int64_t> numbers;
      while (numbers.size() < count) numbers.push_back(random.below(most));
      std::string bytes = "before";
      append_rice_coded(bytes, numbers);
      bytes += "behind";
      std::string_view left = std::string_view(bytes).substr(6);
      EXPECT_EQ(take_rice_coded(left, count), numbers) << most;
      EXPECT_EQ(left, "behind");
    }
  }
}

// By hand: 5 and 1 with one bit as it is are 110 1 and 0 1, the lowest bit of a byte first.
TEST(RiceCode, HasItsBitsInThisOrder) {
  std::string_view bytes("\x01\x2B", 2);
  EXPECT_EQ(take_rice_coded(bytes, 2), (std::vector<std::int64_t>{5, 1}));
  EXPECT_TRUE(bytes.empty());
}

TEST(RiceCode, KnowsWhereThereAreFewer) {
  std::string bytes;
  append_rice_coded(bytes, std::vector<std::int64_t>{1000, 2000, 3000});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string_view cut = std::string_view(bytes).substr(0, size);
    EXPECT_EQ(take_rice_coded(cut, 3), std::nullopt);
  }
  std::string_view ones("\x3E\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 13), no_such("\x40\x00", 2);
  EXPECT_EQ(take_rice_coded(ones, 1), std::nullopt);
  EXPECT_EQ(take_rice_coded(no_such, 1), std::nullopt);
}

}  // namespace
}  // namespace penstock
