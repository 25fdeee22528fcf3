#include "bench/imagenet/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// As ALCF publishes it (their misspelt key included).
constexpr const char* published = R"({
  "data": {
    "handler": "ilsvrc_dataset",
    "batch_size": 64,
    "train_filelist": "/data/ilsvrc_train.txt",
    "test_filelist": "/data/ilsvrc_test.txt",
    "shuffle_buffer": 1000,
    "reshuffle_each_iteration": false,
    "num_parallel_readers": 8,
    "prefectch_buffer_size": 10,
    "crop_image_size": [192, 256],
    "num_classes": 1000,
    "num_channels": 3
  }
})";

std::string error_of(const std::string& data) {
  ImagenetOptions options;
  try {
    apply_config("{\"data\": {" + data + "}}", "a.json", options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ConfigFile, TakesThePublishedFile) {
  ImagenetOptions options;
  const ConfigFile files = apply_config(published, "ilsvrc.json", options);
  EXPECT_EQ(files.train_filelist, "/data/ilsvrc_train.txt");
  EXPECT_EQ(files.test_filelist, "/data/ilsvrc_test.txt");
  EXPECT_EQ(options.batch, 64);
  EXPECT_EQ(options.shuffle_buffer, 1000);
  EXPECT_FALSE(options.reshuffle);
  EXPECT_EQ(options.crop, (image::Size{192, 256}));
  EXPECT_EQ(options.num_classes, 1000);
}

TEST(ConfigFile, LeavesTuningToTheController) {
  ImagenetOptions options;
  apply_config(published, "ilsvrc.json", options);
  EXPECT_TRUE(options.parallel.is_automatic());
  EXPECT_TRUE(options.prefetch.is_automatic());
}

TEST(ConfigFile, TakesBothSpellingsOfPrefetch) {
  EXPECT_EQ(error_of(R"("prefectch_buffer_size": 10)"), "no error");
  EXPECT_EQ(error_of(R"("prefetch_buffer_size": 10)"), "no error");
}

TEST(ConfigFile, UnknownKeySuggestsTheNearestOne) {
  EXPECT_THAT(error_of(R"("batch_sise": 4)"),
              AllOf(HasSubstr("a.json"), HasSubstr("batch_sise"), HasSubstr("did you mean \"batch_size\"")));
  EXPECT_THAT(error_of(R"("prefetch_bufer_size": 4)"), HasSubstr("did you mean \"prefetch_buffer_size\""));
  EXPECT_THAT(error_of(R"("shufle": 4)"), HasSubstr("did you mean \"shuffle_buffer\""));
}

TEST(ConfigFile, UnknownSectionIsAnError) {
  ImagenetOptions options;
  EXPECT_THROW(apply_config(R"({"date": {}})", "a.json", options), UsageError);
}

TEST(ConfigFile, RefusesWrongTypesAndValues) {
  EXPECT_THAT(error_of(R"("batch_size": "128")"), HasSubstr("\"batch_size\" must be a whole number"));
  EXPECT_THAT(error_of(R"("batch_size": 0)"), HasSubstr("from 1 to 2147483647"));
  EXPECT_THAT(error_of(R"("train_filelist": 3)"), HasSubstr("must be a string"));
  EXPECT_THAT(error_of(R"("reshuffle_each_iteration": 1)"), HasSubstr("must be true or false"));
  EXPECT_THAT(error_of(R"("crop_image_size": [256])"), HasSubstr("must be [height, width]"));
  EXPECT_THAT(error_of(R"("crop_image_size": [256, -1])"), HasSubstr("from 1 to"));
}

TEST(ConfigFile, NumbersHaveABoundAbove) {
  EXPECT_EQ(error_of(R"("batch_size": 2147483647)"), "no error");
  for (const char* number : {"2147483648", "9223372036854775808", "18446744073709551615", "1e30"}) {
    for (const char* key : {"batch_size", "shuffle_buffer", "num_classes", "num_parallel_readers"})
      EXPECT_THAT(error_of("\"" + std::string(key) + "\": " + number), HasSubstr("must be a whole number from"));
    EXPECT_THAT(error_of("\"crop_image_size\": [256, " + std::string(number) + "]"),
                HasSubstr("must be a whole number from"));
  }
}

TEST(ConfigFile, ChannelsMustBeThree) {
  EXPECT_THAT(error_of(R"("num_channels": 1)"), HasSubstr("must be 3, but is 1"));
}

TEST(ConfigFile, RefusesWhatIsNoJson) {
  ImagenetOptions options;
  EXPECT_THROW(apply_config("{", "a.json", options), UsageError);
  EXPECT_THROW(apply_config("[]", "a.json", options), UsageError);
  EXPECT_THROW(apply_config_file("/nowhere/ilsvrc.json", options), UsageError);
}

// Found by fuzzing: that is another exception than the one of broken JSON.
TEST(ConfigFile, RefusesANumberThatNoDoubleHolds) {
  EXPECT_THAT(error_of("\"batch_size\": 1e309"), HasSubstr("'a.json': a number in it is too large"));
}

}  // namespace
}  // namespace penstock::bench
