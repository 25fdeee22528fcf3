// Every op of the list is run through every check.
//
//   PENSTOCK_OP=shuffle     only the lines of this op
//   PENSTOCK_FULL=1         ten times as many seeds
//   PENSTOCK_SMALL=1        a quarter, for sanitizers
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "tests/conformance/listing.h"
#include "tests/conformance/ops.h"
#include "tests/conformance/suite.h"
#include "tests/support/source_folder.h"

namespace conformance {
namespace {

std::vector<Case> chosen_ops() {
  std::vector<Case> cases = all_ops();
  const char* only = std::getenv("PENSTOCK_OP");
  if (only != nullptr && *only != '\0')
    std::erase_if(cases, [&](const Case& tested) { return tested.op_name() != only; });
  return cases;
}

TEST(Conformance, OfEveryOpByEveryCheck) {
  const std::vector<Row> rows = run_suite(chosen_ops());
  ASSERT_FALSE(rows.empty()) << "PENSTOCK_OP names no op";
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      for (const std::string& finding : row.cells[i].findings)
        ADD_FAILURE() << row.op << ", " << all_checks()[i].name << ": " << finding;
  std::cout << table_of(rows);
}

TEST(Conformance, HasALineForEveryOpOfTheLibrary) {
  std::set<std::string> names;
  for (const Case& tested : all_ops()) names.insert(tested.op_name());
  EXPECT_THAT(ops_without_a_line(penstock::test::source_folder(), names), ::testing::IsEmpty())
      << "write a case for each: tests/ops/<op>_case.h";
}

TEST(Conformance, MissesTheLineOfAnOpThatIsLeftOut) {
  const std::vector<std::string> missed = ops_without_a_line(penstock::test::source_folder(), {});
  for (const Case& tested : all_ops()) {
    if (tested.op_name().starts_with("own_")) continue;  // a user's
    EXPECT_THAT(missed, ::testing::Contains(tested.op_name()));
  }
}

}  // namespace
}  // namespace conformance
