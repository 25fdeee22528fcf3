#include <penstock/penstock.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using testing::INF;
using testing::UNK;

using Word = std::vector<std::int64_t>;
using WordOptions = BucketOptions<Word>;

// Words that begin with 13 have no length.
std::int64_t length_of(const Word& word) {
  if (word.front() == 13) throw std::invalid_argument("13");
  return std::ssize(word);
}

OpRef bucket(const WordOptions& options) {
  using Length = std::int64_t (*)(const Word&);
  const Padding padding = detail::padding_of<Word>(options.padded_shapes, options.padding_values);
  return ops::bucket_by_sequence_length(std::make_shared<detail::LengthByFunctionFactory<Length, Word>>(&length_of),
                                        detail::factories_of_buckets<Word>(padding, options),
                                        detail::buckets_of(options), padding);
}

// "3x5": three words, filled up to five numbers.
std::string print_size(const Element& element) {
  const Shape& shape = element.get<Tensor>().shape();
  return std::to_string(shape[0]) + "x" + std::to_string(shape[1]);
}

testing::RecordingEmitter bucketed(const OpRef& op, const std::vector<Word>& words) {
  testing::StreamRun run(op);
  testing::RecordingEmitter out;
  run.state().begin_pass(out);
  Stamp stamp;
  for (const Word& word : words) {
    try {
      if (word.empty()) run.state().error(testing::error_slot(stamp), out);
      if (!word.empty()) run.state().element(testing::element_slot(Element(word), stamp), out);
    } catch (...) {  // as the engine does
      Slot slot({}, stamp);
      slot.fail(std::current_exception());
      out.forward(std::move(slot));
    }
    ++stamp.ordinal;
  }
  run.end_pass(out);
  return out;
}

std::string sizes_of(const WordOptions& options, const std::vector<std::size_t>& lengths) {
  std::vector<Word> words;
  for (const std::size_t length : lengths) words.emplace_back(length, 1);
  return bucketed(bucket(options), words).text(print_size);
}

TEST(BucketBySequenceLength, PutsElementsOfAboutOneLengthTogether) {
  EXPECT_EQ(sizes_of({.bucket_boundaries = {3, 5}, .bucket_batch_sizes = {2, 2, 2}}, {1, 4, 9, 2, 3, 5}),
            "2x2 2x4 2x9");
}

TEST(BucketBySequenceLength, BeginsABucketWithItsBoundary) {
  EXPECT_EQ(sizes_of({.bucket_boundaries = {3}, .bucket_batch_sizes = {1, 3}}, {2, 3, 4, 3}), "1x2 3x4");
}

TEST(BucketBySequenceLength, GivesWhatIsLeftInTheOrderOfTheBuckets) {
  const std::vector<std::size_t> lengths{7, 4, 1, 4};
  EXPECT_EQ(sizes_of({.bucket_boundaries = {3, 5}, .bucket_batch_sizes = {9, 9, 9}}, lengths), "1x1 2x4 1x7");
  EXPECT_EQ(sizes_of({.bucket_boundaries = {3, 5}, .bucket_batch_sizes = {9, 2, 9}, .drop_remainder = true}, lengths),
            "2x4");
}

TEST(BucketBySequenceLength, PadsAsItIsTold) {
  const auto out = bucketed(
      bucket({.bucket_boundaries = {3}, .bucket_batch_sizes = {2, 1}, .padded_shapes = {3}, .padding_values = -1}),
      {{1}, {2, 2}, {5, 5, 5, 5}});
  ASSERT_EQ(out.text(print_size), "2x3 !");
  const Tensor batch = out.slots[0].value.get<Tensor>();
  EXPECT_TRUE(std::ranges::equal(batch.values<std::int64_t>(), std::vector{1, -1, -1, 2, 2, -1}));
  EXPECT_NE(testing::error_text(out.slots[1]).find("has size 4, but padded_shapes gives it 3"), std::string::npos);
}

TEST(BucketBySequenceLength, PadsToOneLessThanTheBoundaryWhereItIsAsked) {
  const WordOptions options{
      .bucket_boundaries = {3, 6}, .bucket_batch_sizes = {2, 2, 2}, .pad_to_bucket_boundary = true};
  EXPECT_EQ(sizes_of(options, {1, 1, 4, 3, 2, 5}), "2x2 2x5 1x2 1x5");
  EXPECT_EQ(sizes_of({.bucket_boundaries = {3},
                      .bucket_batch_sizes = {1, 1},
                      .padded_shapes = {4},
                      .pad_to_bucket_boundary = true},
                     {1}),
            "1x4")
      << "a size that is given stays";
}

TEST(BucketBySequenceLength, PadsTheFirstDimensionAloneToTheBoundary) {
  const auto paddings = detail::paddings_of_buckets({}, {6}, true);
  PaddedCollate<Tensor>::Builder builder(2, paddings.front());
  for (const std::int64_t length : {2, 3}) {
    const Tensor row(DType::u8, {length, 80});
    builder.check(row);
    builder.add(row);
  }
  EXPECT_EQ(builder.finish().shape(), (Shape{2, 5, 80}));
}

TEST(BucketBySequenceLength, FailsWhatLiesBeyondTheLastBoundaryWhereAllArePaddedToOne) {
  const auto op =
      bucket({.bucket_boundaries = {2, 3}, .bucket_batch_sizes = {1, 1, 1}, .pad_to_bucket_boundary = true});
  const auto out = bucketed(op, {{1, 1, 1}, {1}, {1, 1}});
  ASSERT_EQ(out.text(print_size), "! 1x1 1x2");
  EXPECT_THAT(testing::error_text(out.slots[0]),
              ::testing::HasSubstr("length 3, but with pad_to_bucket_boundary each must be below the last of "
                                   "bucket_boundaries, 3"));
}

TEST(BucketBySequenceLength, TellsOfSizesThatTheirBucketHasNoRoomFor) {
  using Length = std::int64_t (*)(const Word&);
  const Length shorter = [](const Word&) -> std::int64_t { return 1; };
  const WordOptions options{.bucket_boundaries = {3}, .bucket_batch_sizes = {1, 1}, .pad_to_bucket_boundary = true};
  const auto op =
      ops::bucket_by_sequence_length(std::make_shared<detail::LengthByFunctionFactory<Length, Word>>(shorter),
                                     detail::factories_of_buckets<Word>({}, options), detail::buckets_of(options), {});
  const auto out = bucketed(op, {{1, 1, 1}});
  EXPECT_THAT(testing::error_text(out.slots.at(0)), ::testing::HasSubstr("has size 3, but its bucket has room for 2"));
}

TEST(BucketBySequenceLength, PassesErrorsAtOnceAndGoesOn) {
  const auto op = bucket({.bucket_boundaries = {3}, .bucket_batch_sizes = {2, 2}});
  EXPECT_EQ(bucketed(op, {{1}, {}, {13}, {1, 2}}).text(print_size), "x1 ! 2x2");
}

// As a size that no memory has room for makes it.
TEST(BucketBySequenceLength, TellsOfEachBatchThatCannotBePutTogether) {
  const auto op = bucket({.bucket_boundaries = {2, 3},
                          .bucket_batch_sizes = {2, 9, 9},
                          .padded_shapes = {std::numeric_limits<std::int64_t>::max()}});
  const auto out = bucketed(op, {{1}, {1, 1}, {1}, {1, 1, 1}, {1, 1}});
  ASSERT_EQ(out.text(print_size), "! ! !");
  EXPECT_EQ(out.slots[0].stamp.ordinal, 2);
  EXPECT_THAT(testing::error_text(out.slots[0]), ::testing::HasSubstr("a batch with 2 elements was lost"));
  EXPECT_EQ(out.slots[1].stamp.ordinal, 4);
  EXPECT_THAT(testing::error_text(out.slots[2]), ::testing::HasSubstr("a batch with 1 element was lost"));
}

TEST(BucketBySequenceLength, TakesALengthBeyondTheSignedNumbersForTheLargestOne) {
  auto length = [](const Word&) { return ~std::uint64_t{0}; };
  const auto lengths = detail::LengthByFunctionFactory<decltype(length), Word>(length).open();
  EXPECT_EQ(lengths->of(Element(Word{1})), std::numeric_limits<std::int64_t>::max());
}

TEST(BucketBySequenceLength, CarriesTheStampOfItsLastMember) {
  const auto op = bucket({.bucket_boundaries = {3}, .bucket_batch_sizes = {2, 9}});
  const auto out = bucketed(op, {{1}, {1, 2, 3}, {1}, {}});
  ASSERT_EQ(out.slots.size(), 3u);
  EXPECT_EQ(out.slots[0].stamp.ordinal, 2);
  EXPECT_EQ(out.slots[2].stamp.ordinal, 1);
}

TEST(BucketBySequenceLength, StartsAnewInEachPass) {
  const auto op = bucket({.bucket_boundaries = {3}, .bucket_batch_sizes = {2, 2}, .drop_remainder = true});
  testing::StreamRun run(op);
  for (int pass = 0; pass < 2; ++pass) {
    testing::RecordingEmitter out;
    run.state().begin_pass(out);
    for (int i = 0; i < 3; ++i)
      run.state().element(testing::element_slot(Element(Word{1}), {}, 50 + sizeof(Slot)), out);
    EXPECT_EQ(run.state().held_bytes(), 50);
    run.end_pass(out);
    EXPECT_EQ(run.state().held_bytes(), 0);
    EXPECT_EQ(out.text(print_size), "2x1");
  }
}

TEST(BucketBySequenceLength, KnowsOnlyOfAnEndlessInputHowManyComeOut) {
  testing::expect_cardinalities(bucket({.bucket_boundaries = {3}, .bucket_batch_sizes = {1, 1}}),
                                {{7, UNK}, {UNK, UNK}, {INF, INF}});
}

TEST(BucketBySequenceLength, PrintsWhatDecidesItsElements) {
  EXPECT_EQ(bucket({.bucket_boundaries = {3, 5}, .bucket_batch_sizes = {9, 8, 7}})->parameters(),
            "bucket_boundaries=[3, 5], bucket_batch_sizes=[9, 8, 7]");
  EXPECT_EQ(
      bucket({.bucket_boundaries = {3}, .bucket_batch_sizes = {9, 8}, .padding_values = 1, .drop_remainder = true})
          ->parameters(),
      "bucket_boundaries=[3], bucket_batch_sizes=[9, 8], drop_remainder, padding_values=1");
}

TEST(BucketBySequenceLength, RefusesWrongArguments) {
  const auto refused = [](const WordOptions& options, const char* why) {
    EXPECT_ERROR(bucket(options), ErrorCode::invalid_argument, why);
  };
  refused({}, "bucket_boundaries is empty; give at least one length, or use padded_batch()");
  refused({.bucket_boundaries = {3, 3}, .bucket_batch_sizes = {1, 1, 1}}, "bucket_boundaries must rise, but is [3, 3]");
  refused({.bucket_boundaries = {3}, .bucket_batch_sizes = {1}},
          "bucket_batch_sizes must have one size more than bucket_boundaries, for what is longer than all of these: 2, "
          "but is [1]");
  refused({.bucket_boundaries = {3}, .bucket_batch_sizes = {1, 0}}, "bucket_batch_size must be at least 1, but is 0");
}

}  // namespace
}  // namespace penstock
