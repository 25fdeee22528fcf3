// map, flat_map and filter: settings in braces, and the name that the user gives to a step.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

constexpr auto twice = [](std::int64_t x) { return 2 * x; };
constexpr auto both = [](std::int64_t x) { return std::vector{x, -x}; };
constexpr auto is_even = [](std::int64_t x) { return x % 2 == 0; };
constexpr auto fails = [](std::int64_t) -> std::int64_t { throw Error(ErrorCode::data_loss, "torn"); };

template <class T> std::vector<T> all(const Dataset<T>& data) {
  std::vector<T> values;
  for (auto&& value : data) values.push_back(std::move(value));
  return values;
}

template <class T> std::vector<std::string> stages_of(const Dataset<T>& data) {
  auto run = data.start();
  while (run.next()) {
  }
  std::vector<std::string> names;
  for (const StageSnapshot& stage : run.snapshot().stages) names.push_back(stage.name);
  return names;
}

template <class T> std::string error_of(const Dataset<T>& data) {
  try {
    all(data);
  } catch (const ElementError& error) {
    return error.what();
  }
  return "no error";
}

TEST(StepOptions, StandInBracesBehindTheFunction) {
  const auto data = range(6).map(twice, {.parallelism = 3, .blocks = true});
  EXPECT_EQ(all(data), (std::vector<std::int64_t>{0, 2, 4, 6, 8, 10}));
  EXPECT_NE(describe(data).find("parallelism=3, blocks"), std::string::npos) << describe(data);
  EXPECT_EQ(all(range(2).flat_map(both, {.parallelism = 1})), (std::vector<std::int64_t>{0, 0, 1, -1}));
}

TEST(StepOptions, MeanTheSameWhetherParallelismStandsBeforeThemOrInThem) {
  EXPECT_EQ(describe(range(6).map(twice, 3)).substr(0, 60),
            describe(range(6).map(twice, {.parallelism = 3})).substr(0, 60));
  EXPECT_EQ(all(range(2).flat_map(both, 2, {.blocks = true})),
            all(range(2).flat_map(both, {.parallelism = 2, .blocks = true})));
}

TEST(StepOptions, RefuseParallelismInTwoPlaces) {
  EXPECT_ERROR(range(6).map(twice, 3, {.parallelism = 4}), ErrorCode::invalid_argument, "parallelism is given twice");
  EXPECT_ERROR(range(6).flat_map(both, 3, {.parallelism = 3}), ErrorCode::invalid_argument, "op 1 of the chain");
}

TEST(StepOptions, RefuseWrongParallelismInBraces) {
  EXPECT_ERROR(range(6).map(twice, {.parallelism = 0}), ErrorCode::invalid_argument,
               "parallelism must be at least 1, but is 0");
}

TEST(StepName, StandsInDescribe) {
  const auto data =
      range(6).map(twice, {.name = "decode"}).filter(is_even, {.name = "large ones"}).flat_map(both, {.name = "split"});
  const std::string text = describe(data);
  for (const char* part : {"map", "name=decode", "filter", "name=large ones", "flat_map", "name=split"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(StepName, IsTheStagesInSnapshotsAndInTheExplanation) {
  const auto data = range(6).map(twice, {.name = "decode"}).map(twice).filter(is_even, {.name = "large"});
  EXPECT_EQ(stages_of(data), (std::vector<std::string>{"range", "decode", "map", "large"}));
  auto run = data.start();
  while (run.next()) {
  }
  EXPECT_NE(to_text(run.explain()).find("decode"), std::string::npos) << to_text(run.explain());
}

TEST(StepName, StandsInErrorsBesideTheOps) {
  const std::string text = error_of(range(3).map(twice).map(fails, {.name = "decode"}));
  EXPECT_EQ(text.substr(0, 21), "map 'decode' (op 2 at") << text;
  EXPECT_EQ(error_of(range(3).map(fails)).substr(0, 12), "map (op 1 at");
}

TEST(StepName, IsNamedByTheGraphsChecks) {
  EXPECT_ERROR(range(30).filter(is_even, {.name = "large"}).shard(World{.size = 2, .rank = 0}),
               ErrorCode::invalid_argument, "filter 'large' (op 1)");
}

// The functions themselves cannot be compared; a name can.
TEST(StepName, BelongsToWhatACheckpointWasTakenOf) {
  const auto of = [](const std::string& name) { return range(10).map(twice, {.name = name}); };
  auto run = of("decode").start();
  run.next();
  const auto place = std::make_shared<const Checkpoint>(run.checkpoint());
  EXPECT_EQ(of("decode").start({.resume_from = place}).next(), 2);
  EXPECT_ERROR(of("read").start({.resume_from = place}), ErrorCode::failed_precondition,
               "'1 map(name=decode)' there, '1 map(name=read)' here");
  EXPECT_ERROR(of("").start({.resume_from = place}), ErrorCode::failed_precondition, "'1 map()' here");
}

TEST(StepName, HasNoLineBreaksAndIsNotLong) {
  EXPECT_ERROR(range(6).map(twice, {.name = "a\nb"}), ErrorCode::invalid_argument, "name must not hold line breaks");
  EXPECT_ERROR(range(6).filter(is_even, {.name = std::string(65, 'x')}), ErrorCode::invalid_argument,
               "name must have at most 64 bytes, but has 65");
  EXPECT_EQ(all(range(1).map(twice, {.name = std::string(64, 'x')})).size(), 1u);
}

}  // namespace
}  // namespace penstock
