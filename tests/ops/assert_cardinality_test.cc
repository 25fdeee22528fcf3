#include <penstock/penstock.h>

#include <string>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::run_pass;
using testing::UNK;

OpRef assert_count(std::int64_t count) { return ops::assert_cardinality(count); }

TEST(AssertCardinality, PassesWhatIsAsManyAsItSays) {
  EXPECT_EQ(run_pass(assert_count(3), "0 x 2"), "0 x1 2");
  EXPECT_EQ(run_pass(assert_count(0), ""), "");
}

TEST(AssertCardinality, ReportsAPassThatEndsEarlier) {
  const auto out = testing::StreamRun(assert_count(4)).pass("0 x 2");
  EXPECT_EQ(out.text(testing::print_integer), "0 x1 2 !");
  EXPECT_EQ(
      testing::error_text(out.slots[3]),
      "Input dataset was expected to contain 4 elements but contained only 3. Tell assert_cardinality() the right "
      "number, or use take() or repeat() before it");
  EXPECT_EQ(out.slots[3].stamp.ordinal, 2);
  EXPECT_EQ(run_pass(assert_count(1), ""), "!");
  EXPECT_EQ(run_pass(assert_count(-1), "0 1"), "0 1 !");
}

TEST(AssertCardinality, ReportsTheFirstThatIsTooManyAndEndsThePass) {
  const auto out = testing::StreamRun(assert_count(1)).pass("0 1 x 3");
  EXPECT_EQ(out.text(testing::print_integer), "0 ! |");
  EXPECT_EQ(testing::error_text(out.slots[1]).substr(0, 76),
            "Input dataset was expected to contain 1 element but contained at least 2. Te");
  EXPECT_EQ(out.slots[1].stamp.ordinal, 1);
  EXPECT_EQ(run_pass(assert_count(1), "0 x"), "0 ! |");
}

TEST(AssertCardinality, CountsAnewInEachPass) {
  testing::StreamRun run(assert_count(2));
  for (const char* const pass : {"0 1", "2 3"}) EXPECT_EQ(run.pass(pass).text(testing::print_integer), pass);
}

TEST(AssertCardinality, IsTheCountForThoseBehind) {
  testing::expect_cardinalities(assert_count(7), {{7, 7}, {UNK, 7}});
  testing::expect_cardinalities(assert_count(-1), {{INF, INF}, {UNK, INF}});
  EXPECT_EQ(assert_count(7)->flow({.cardinality = UNK, .leading_dimension = 3}).leading_dimension, 3);
}

TEST(AssertCardinality, RefusesAnotherCountThanIsKnown) {
  EXPECT_ERROR(assert_count(7)->flow({.cardinality = 8}), ErrorCode::invalid_argument,
               "the input is known to have 8 elements, but cardinality says 7");
  EXPECT_ERROR(assert_count(7)->flow({.cardinality = INF}), ErrorCode::invalid_argument,
               "the input is known to have endlessly many elements, but cardinality says 7");
  EXPECT_ERROR(assert_count(-2), ErrorCode::invalid_argument,
               "cardinality must be at least 0, or INFINITE_CARDINALITY (-1), but is -2");
}

// In runs, on threads and without, in several passes.
TEST(AssertCardinality, HoldsARunToWhatItSays) {
  const auto even = [](std::int64_t x) { return x % 2 == 0; };
  const auto texts_of = [](const Dataset<std::int64_t>& data, bool serial) {
    std::string text;
    auto run = data.start({.threads = 2, .serial = serial});
    for (bool more = true; more;) try {
        const auto element = run.next();
        more = element.has_value();
        if (more) text += std::to_string(*element) + " ";
      } catch (const ElementError&) {
        text += "! ";
      }
    return text;
  };
  for (const bool serial : {true, false}) {
    const auto evens = range(6).filter(even);
    EXPECT_EQ(texts_of(evens.assert_cardinality(3).repeat(2), serial), "0 2 4 0 2 4 ");
    EXPECT_EQ(texts_of(evens.assert_cardinality(4).repeat(2), serial), "0 2 4 ! 0 2 4 ! ");
    EXPECT_EQ(texts_of(evens.assert_cardinality(2).repeat(2), serial), "0 2 ! 0 2 ! ");
    EXPECT_EQ(texts_of(evens.assert_cardinality(9).take(2), serial), "0 2 ");
    EXPECT_EQ(texts_of(evens.assert_cardinality(3).shard(World{.size = 2, .rank = 1}), serial), "2 ");
  }
}

}  // namespace
}  // namespace penstock
