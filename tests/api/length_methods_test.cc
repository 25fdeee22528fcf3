// padded_batch, ragged_batch and bucket_by_sequence_length, as a user writes them.
#include <gmock/gmock.h>
#include <penstock/penstock.h>

#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

struct Text {
  std::vector<std::int32_t> tokens;
  std::int32_t label = 0;
};

}  // namespace

template <> struct Fields<Text> { static constexpr auto value = std::tuple{&Text::tokens, &Text::label}; };

namespace {

using ::testing::ElementsAre;

const Dataset<Text> kTexts = from_vector(std::vector<Text>{{{1, 2}, 7}, {{3}, 8}, {{4, 5, 6}, 9}});

std::vector<std::int32_t> all_numbers(const Tensor& tensor) {
  const auto values = tensor.values<std::int32_t>();
  return {values.begin(), values.end()};
}

TEST(LengthMethods, FillUpTheFieldsOfStructs) {
  std::vector<std::vector<std::int32_t>> tokens, labels;
  for (auto&& batch : kTexts.padded_batch(2, {.padding_values = {{&Text::tokens, -1}}})) {
    tokens.push_back(all_numbers(batch.column<&Text::tokens>()));
    labels.push_back(all_numbers(batch.tensor<&Text::label>()));
  }
  EXPECT_THAT(tokens, ElementsAre(ElementsAre(1, 2, 3, -1), ElementsAre(4, 5, 6)));
  EXPECT_THAT(labels, ElementsAre(ElementsAre(7, 8), ElementsAre(9)));
}

// Of the next `most` batches.
std::vector<std::vector<std::int32_t>> tokens_of(Run<PaddedBatch<Text>>& run, std::size_t most) {
  std::vector<std::vector<std::int32_t>> tokens;
  while (tokens.size() < most) {
    const auto batch = run.next();
    if (!batch) break;
    tokens.push_back(all_numbers(batch->column<&Text::tokens>()));
  }
  return tokens;
}

void expect_to_go_on_where_it_was_left(const Dataset<PaddedBatch<Text>>& batches) {
  constexpr std::size_t all = 1'000;
  auto serial = batches.start({.on_error = skip_all(), .serial = true});
  const auto whole = tokens_of(serial, all);
  EXPECT_GT(serial.stats().errors, 0);
  for (std::size_t stop = 0; stop <= whole.size(); ++stop) {
    RunOptions options{.threads = 2, .memory_bytes = 4'096, .on_error = skip_all(), .tune = stop % 2 == 0};
    auto first = batches.start(options);
    auto tokens = tokens_of(first, stop);
    options.resume_from = std::make_shared<Checkpoint>(first.checkpoint());
    auto second = batches.start(options);
    for (auto& more : tokens_of(second, all)) tokens.push_back(std::move(more));
    EXPECT_EQ(tokens, whole) << "left behind batch " << stop;
  }
}

// In the middle of a pass, and behind elements that are too long.
TEST(LengthMethods, GoOnWhereTheyWereLeft) {
  const auto texts = range(23).map([](std::int64_t i) {
    return Text{std::vector<std::int32_t>(static_cast<std::size_t>(i * 5 % 7), static_cast<std::int32_t>(i)), 0};
  });
  const std::vector<FieldShape<Text>> at_most_five{{&Text::tokens, {5}}};
  expect_to_go_on_where_it_was_left(texts.padded_batch(3, {.padded_shapes = at_most_five}).repeat(2));
  const auto length = [](const Text& text) { return text.tokens.size(); };
  expect_to_go_on_where_it_was_left(
      texts
          .bucket_by_sequence_length(
              length, {.bucket_boundaries = {3}, .bucket_batch_sizes = {3, 2}, .padded_shapes = at_most_five})
          .repeat(2));
}

TEST(LengthMethods, TellWhichFieldIsTooLongAndGoOn) {
  auto run = kTexts.padded_batch(2, {.padded_shapes = {{&Text::tokens, {2}}}}).start();
  EXPECT_THAT(all_numbers(run.next()->column<&Text::tokens>()), ElementsAre(1, 2, 3, 0));
  EXPECT_ERROR(run.next(), ErrorCode::data_loss,
               "Dimension 0 of field tokens has size 3, but padded_shapes gives it 2");
  EXPECT_FALSE(run.next());
}

// A handle of tensors comes apart, a vector's tensor does not become a vector again.
TEST(LengthMethods, GiveBatchesThatComeApartWhereTheyCan) {
  using Tokens = std::vector<std::int32_t>;
  std::vector<Tokens> rows;
  const auto lists = from_vector(std::vector<Tokens>{{1, 2}, {3}});
  for (auto&& row : lists.padded_batch(2).unbatch()) rows.push_back(all_numbers(row));
  for (auto&& row : lists.ragged_batch(2).unbatch()) rows.push_back(all_numbers(row));
  EXPECT_THAT(rows, ElementsAre(Tokens{1, 2}, Tokens{3, 0}, Tokens{1, 2}, Tokens{3}));
  static_assert(!Unbatchable<PaddedBatch<Text>> && !Unbatchable<RaggedBatch<Text>> && Unbatchable<Batch<Text>>);
}

TEST(LengthMethods, PutFieldsOneBehindTheOther) {
  const auto batches = kTexts.ragged_batch(2, {.drop_remainder = true});
  EXPECT_EQ(batches.cardinality(), 1);
  for (auto&& batch : batches) {
    auto& [values, row_splits] = batch.column<&Text::tokens>();
    EXPECT_THAT(all_numbers(values), ElementsAre(1, 2, 3));
    EXPECT_THAT(row_splits, ElementsAre(0, 2, 3));
  }
}

TEST(LengthMethods, PutElementsOfAboutOneLengthTogether) {
  std::vector<std::vector<std::int32_t>> batches;
  const auto length = [](const Text& text) { return text.tokens.size(); };
  for (auto&& batch :
       kTexts.bucket_by_sequence_length(length, {.bucket_boundaries = {3}, .bucket_batch_sizes = {2, 2}}))
    batches.push_back(all_numbers(batch.column<&Text::tokens>()));
  EXPECT_THAT(batches, ElementsAre(ElementsAre(1, 2, 3, 0), ElementsAre(4, 5, 6)));
}

}  // namespace
}  // namespace penstock
