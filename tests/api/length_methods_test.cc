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
