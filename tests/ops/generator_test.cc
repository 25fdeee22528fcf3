#include <penstock/sources.h>

#include <memory>

#include "lib/graph/node.h"
#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using ::testing::ElementsAre;

template <class T> std::vector<T> read_pass(SourceReader& reader, std::uint32_t epoch, std::uint32_t pass) {
  Context context({}, 0);
  std::vector<T> values;
  reader.begin_pass(epoch, pass);
  while (auto element = reader.next(context)) values.push_back(element->take<T>());
  return values;
}

template <class T> std::unique_ptr<SourceReader> open(const Dataset<T>& dataset) {
  return dynamic_cast<const SourceOp&>(dataset.node()->op()).open();
}

auto three_numbers() {
  return from_generator([i = 0]() mutable { return i < 3 ? std::optional(i++) : std::nullopt; });
}

TEST(Generator, StartsEachPassFromACopy) {
  const auto reader = open(three_numbers());
  EXPECT_THAT(read_pass<int>(*reader, 0, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(read_pass<int>(*reader, 0, 1), ElementsAre(0, 1, 2));
}

TEST(Generator, IsIndependentInEachRun) {
  const auto dataset = three_numbers();
  const auto first = open(dataset);
  const auto second = open(dataset);
  Context context({}, 0);
  first->begin_pass(0, 0);
  first->next(context);
  EXPECT_THAT(read_pass<int>(*second, 0, 0), ElementsAre(0, 1, 2));
  EXPECT_EQ(first->next(context)->take<int>(), 1);
}

TEST(Generator, MayBeMadeForEachPass) {
  const auto reader = open(from_generator([](Pass pass) {
    return [left = 2, pass]() mutable -> std::optional<std::uint32_t> {
      if (left-- == 0) return std::nullopt;
      return 10 * pass.epoch + pass.pass;
    };
  }));
  EXPECT_THAT(read_pass<std::uint32_t>(*reader, 4, 2), ElementsAre(42, 42));
}

TEST(Generator, MayGiveWhatCannotBeCopied) {
  const auto reader = open(from_generator([i = 0]() mutable -> std::optional<std::unique_ptr<int>> {
    if (i == 2) return std::nullopt;
    return std::make_unique<int>(i++);
  }));
  const auto values = read_pass<std::unique_ptr<int>>(*reader, 0, 0);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(*values[1], 1);
}

TEST(Generator, MayTakeTheContextOfItsRun) {
  const auto reader = open(from_generator(
      [](Context& context) mutable -> std::optional<bool> { return context.stop_token().stop_requested(); }));
  std::stop_source stop;
  Context context(stop.get_token(), 0);
  reader->begin_pass(0, 0);
  EXPECT_FALSE(reader->next(context)->take<bool>());
  stop.request_stop();
  EXPECT_TRUE(reader->next(context)->take<bool>());
}

TEST(Generator, HasAnUnknownCardinalityAndNoIndex) {
  const auto dataset = three_numbers();
  EXPECT_EQ(dataset.cardinality(), UNKNOWN_CARDINALITY);
  EXPECT_EQ(dynamic_cast<const SourceOp&>(dataset.node()->op()).indexed(), nullptr);
}

TEST(Generator, RefusesANullPointer) {
  EXPECT_ERROR(ops::generator(nullptr), ErrorCode::invalid_argument, "null pointer");
}

}  // namespace
}  // namespace penstock
