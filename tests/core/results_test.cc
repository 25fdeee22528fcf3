#include <penstock/detail/results.h>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace penstock {
namespace {

// The short ones are nothing but themselves.
TEST(Results, OfAListOfStringsHoldEachOfThemOnce) {
  std::vector<std::string> values{"a", "b", "c"};
  values.reserve(10);
  EXPECT_EQ(detail::ListResults<std::string>(std::move(values)).bytes(), 10 * sizeof(std::string));
}

TEST(Results, AreKnownInBytesOnlyIfEachOfThemIs) {
  std::vector<Element> values;
  values.emplace_back(std::string("seen"));
  values.emplace_back(std::make_shared<std::string>("not seen"));
  EXPECT_FALSE(detail::ListResults<Element>(std::move(values)).bytes_are_known());
}

}  // namespace
}  // namespace penstock
