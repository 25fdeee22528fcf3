#include "bench/imagenet/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/pictures/sample_set.h"

namespace penstock::bench {
namespace {

using namespace std::chrono_literals;

ParsedOptions parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "penstock-imagenet");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), {"penstock-imagenet", "summary"});
}

ImagenetOptions options_of(std::vector<const char*> arguments) {
  arguments.insert(arguments.end(), {"--data", "folder"});
  const ParsedOptions parsed = parse(std::move(arguments));
  EXPECT_FALSE(parsed.exit_code.has_value());
  return parsed.options;
}

int exit_code_of(std::vector<const char*> arguments) {
  arguments.insert(arguments.end(), {"--data", "folder"});
  return parse(std::move(arguments)).exit_code.value_or(-1);
}

TEST(ImagenetOptions, DefaultsAreThePublishedPipeline) {
  const ImagenetOptions options = options_of({});
  EXPECT_EQ(options.workload, Workload::boxes);
  EXPECT_EQ(options.dtype, DType::f32);
  EXPECT_EQ(options.batch, 128);
  EXPECT_EQ(options.boxes, BoxPolicy::tf);
  EXPECT_EQ(options.dct, image::Dct::islow);
  EXPECT_EQ(options.shuffle_buffer, 200'000);
  EXPECT_TRUE(options.parallel.is_automatic());
}

TEST(ImagenetOptions, SizesAndTimesTakeUnits) {
  const ImagenetOptions options = options_of({"--memory", "64M", "--step-time", "10ms", "--step-cpu", "0.25"});
  EXPECT_EQ(options.memory_bytes, 64 * MiB);
  EXPECT_EQ(options.step_time, 10ms);
  EXPECT_EQ(options.step_cpu, 0.25);
}

TEST(ImagenetOptions, TunablesAreAutomaticOrFixed) {
  const ImagenetOptions options = options_of({"--parallel", "3", "--open-io", "auto", "--prefetch", "0"});
  EXPECT_EQ(options.parallel.high(), 3);
  EXPECT_TRUE(options.open_io.is_automatic());
  EXPECT_EQ(options.prefetch.high(), 0);
  EXPECT_FALSE(options.prefetch.is_automatic());
}

TEST(ImagenetOptions, CpuIsANumberOrAShare) {
  EXPECT_EQ(options_of({"--cpu", "3"}).threads, 3);
  EXPECT_EQ(options_of({"--cpu", "1%"}).threads, 1);
  EXPECT_EQ(options_of({}).threads, 0);
}

TEST(ImagenetOptions, ErrorPolicies) {
  EXPECT_EQ(options_of({}).on_error.skip_at_most, 0);
  EXPECT_EQ(options_of({"--on-error", "skip"}).on_error.skip_at_most, -1);
  EXPECT_EQ(options_of({"--on-error", "skip:7"}).on_error.skip_at_most, 7);
}

TEST(ImagenetOptions, NamesOfAlcfsScriptAreAliases) {
  const ImagenetOptions options =
      options_of({"--nsteps", "5", "--interop", "2", "--intraop", "4", "--num-parallel-readers", "6",
                  "--prefetch-buffer-size", "3", "--hvd", "-l", "logs"});
  EXPECT_EQ(options.steps, 5);
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.intraop, 4);
  EXPECT_EQ(options.parallel.high(), 6);
  EXPECT_EQ(options.prefetch.high(), 3);
  EXPECT_TRUE(options.horovod);
  EXPECT_EQ(options.stats_file, "logs/stats.json");
}

TEST(ImagenetOptions, NamesOfTheWorkloads) {
  EXPECT_EQ(options_of({"--workload", "eval"}).workload, Workload::eval);
  EXPECT_EQ(options_of({"--workload", "W2"}).workload, Workload::train);
}

TEST(ImagenetOptions, WrongUsageIsExitCode2) {
  EXPECT_EQ(parse({}).exit_code, 2);  // no data
  EXPECT_EQ(exit_code_of({"--no-such-flag"}), 2);
  EXPECT_EQ(exit_code_of({"--batch", "0"}), 2);
  EXPECT_EQ(exit_code_of({"--batch", "many"}), 2);
  EXPECT_EQ(exit_code_of({"--workload", "W4"}), 2);
  EXPECT_EQ(exit_code_of({"--memory", "64 bananas"}), 2);
  EXPECT_EQ(exit_code_of({"--memory", "0"}), 2);
  EXPECT_EQ(exit_code_of({"--step-time", "10"}), 2);
  EXPECT_EQ(exit_code_of({"--step-time", "1s", "--step-cpu", "1.5"}), 2);
  EXPECT_EQ(exit_code_of({"--step-cpu", "0.5"}), 2);
  EXPECT_EQ(exit_code_of({"--cpu", "0%"}), 2);
  EXPECT_EQ(exit_code_of({"--on-error", "skip:"}), 2);
  EXPECT_EQ(exit_code_of({"--config", "/nowhere.json"}), 2);
}

TEST(ImagenetOptions, NumbersHaveABoundAbove) {
  for (const char* flag : {"--epochs", "--open-io", "--parallel", "--prefetch", "--batch", "--steps", "--reps",
                           "--generate", "--cached-batches", "--passes", "--intraop"}) {
    EXPECT_EQ(exit_code_of({flag, "2147483647"}), -1) << flag;
    EXPECT_EQ(exit_code_of({flag, "2147483648"}), 2) << flag;
    EXPECT_EQ(exit_code_of({flag, "4294967297"}), 2) << flag;
    EXPECT_EQ(exit_code_of({flag, "99999999999999999999"}), 2) << flag;
  }
  EXPECT_EQ(exit_code_of({"--on-error", "skip:2147483648"}), 2);
  EXPECT_EQ(exit_code_of({"--cpu", "1024"}), -1);
  EXPECT_EQ(exit_code_of({"--cpu", "1025"}), 2);
  EXPECT_EQ(exit_code_of({"--cpu", "1000%"}), -1);
  EXPECT_EQ(exit_code_of({"--cpu", "1001%"}), 2);
  EXPECT_EQ(exit_code_of({"--memory", "1048576T"}), -1);
  EXPECT_EQ(exit_code_of({"--memory", "1048577T"}), 2);
  EXPECT_EQ(exit_code_of({"--step-time", "1000h"}), -1);
  EXPECT_EQ(exit_code_of({"--step-time", "1001h"}), 2);
}

TEST(ImagenetOptions, FlagsOfLaterIssuesAreNotBuiltYet) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code_of({"--records", "d"}), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ::testing::AllOf(::testing::HasSubstr("--records"), ::testing::HasSubstr("not built yet")));
}

TEST(ImagenetOptions, DecoderCanBeChosen) {
  for (const char* decoder : {"auto", "libjpeg", "own"}) EXPECT_EQ(exit_code_of({"--decoder", decoder}), -1) << decoder;
  EXPECT_EQ(exit_code_of({"--decoder", "gpu"}), 2);
  EXPECT_EQ(exit_code_of({"--decoder", "own", "--without", "own"}), 2);
  EXPECT_EQ(exit_code_of({"--decoder", "auto", "--without", "own"}), -1);
}

TEST(ImagenetOptions, StepsOfTheFastPathCanBeLeftOut) {
  const Without nothing = options_of({}).without;
  EXPECT_TRUE(nothing.fast.roi && nothing.fast.rows && nothing.fast.stream);
  EXPECT_FALSE(nothing.simd || nothing.own);
  const Without some = options_of({"--without", "simd,roi,own"}).without;
  EXPECT_TRUE(some.fast.rows && some.fast.stream && some.simd && some.own);
  EXPECT_FALSE(some.fast.roi);
  EXPECT_EQ(exit_code_of({"--without", "roi,wheels"}), 2);
}

TEST(ImagenetOptions, StraightforwardRefusesFlagsThatItDoesNotHeed) {
  EXPECT_EQ(exit_code_of({"--straightforward"}), -1);
  EXPECT_EQ(
      exit_code_of({"--straightforward", "--workload", "eval", "--layout", "nchw", "--dtype", "f32", "--epochs", "2"}),
      -1);
  for (const std::vector<const char*>& flags : std::vector<std::vector<const char*>>{{"--file-list", "f"},
                                                                                     {"--dtype", "u8"},
                                                                                     {"--layout", "nchw"},
                                                                                     {"--steps", "3"},
                                                                                     {"-n", "3"},
                                                                                     {"--cpu", "2"},
                                                                                     {"--without", "roi"},
                                                                                     {"--explain"}}) {
    std::vector<const char*> all{"--straightforward"};
    all.insert(all.end(), flags.begin(), flags.end());
    testing::internal::CaptureStderr();
    EXPECT_EQ(exit_code_of(all), 2) << flags[0];
    EXPECT_THAT(testing::internal::GetCapturedStderr(), ::testing::HasSubstr("--straightforward")) << flags[0];
  }
}

TEST(ImagenetOptions, SimdIsOneThatTheMachineHas) {
  for (const image::Simd simd : image::supported_simd())
    EXPECT_EQ(options_of({"--simd", std::string(to_string(simd)).c_str()}).simd, simd);
  EXPECT_EQ(options_of({"--simd", "auto"}).simd, image::Simd::automatic);
  EXPECT_EQ(exit_code_of({"--simd", "mmx"}), 2);
}

TEST(ImagenetOptions, CommandLineGoesBeforeTheConfigFile) {
  const pictures::SampleSet set(0);
  const std::string config = (set.folder() / "ilsvrc.json").string();
  pictures::SampleSet::write(config,
                             R"({"data": {"batch_size": 64, "shuffle_buffer": 9, "train_filelist": "train.txt"}})");
  const ParsedOptions parsed = parse({"-c", config.c_str(), "--batch", "32"});
  ASSERT_FALSE(parsed.exit_code.has_value());
  EXPECT_EQ(parsed.options.batch, 32);
  EXPECT_EQ(parsed.options.shuffle_buffer, 9);
  EXPECT_EQ(parsed.options.file_list, "train.txt");
  EXPECT_EQ(options_of({"-c", config.c_str()}).file_list, "");
}

}  // namespace
}  // namespace penstock::bench
