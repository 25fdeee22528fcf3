// penstock-imagenet as a program: exit codes, what goes to stdout and what to stderr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/pictures/sample_set.h"

namespace penstock::bench {
namespace {

using nlohmann::json;
using pictures::SampleSet;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Outcome {
  int exit_code;
  std::string out, err;

  std::vector<json> lines() const {
    std::vector<json> lines;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs a shell command in which $P is the program.
Outcome shell(const SampleSet& set, const std::string& command) {
  const std::string out = (set.folder() / "out").string(), err = (set.folder() / "err").string();
  const std::string whole = "P='" PENSTOCK_IMAGENET "'; { " + command + "; } >'" + out + "' 2>'" + err + "'";
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
}

// Runs the program on the set's pictures.
Outcome run(const SampleSet& set, const std::string& flags) {
  return shell(set, "$P --data '" + set.images() + "' " + flags);
}

std::string digest_of(const SampleSet& set, const std::string& flags) {
  const Outcome outcome = run(set, "--json --reps 1 --batch 4 --epochs 2 " + flags);
  EXPECT_EQ(outcome.exit_code, 0) << flags << ": " << outcome.err;
  return outcome.lines().at(0).at("digest");
}

TEST(ImagenetProgram, HelpFitsOneScreen) {
  const SampleSet set(0);
  const Outcome outcome = shell(set, "$P --help");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 50);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("--cached-batches"), HasSubstr("128"), HasSubstr("islow")));
}

TEST(ImagenetProgram, VersionNamesItsLibraries) {
  const SampleSet set(0);
  const Outcome outcome = shell(set, "$P --version");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("SIMD targets: scalar"), HasSubstr("oneTBB 20"), HasSubstr("libjpeg-turbo ")));
}

TEST(ImagenetProgram, JsonIsOneLineARepetitionAndNothingElse) {
  const SampleSet set(6);
  const Outcome outcome = run(set, "--json --reps 2 --batch 4");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_THAT(lines, SizeIs(2));
  for (const json& line : lines) {
    for (const char* key :
         {"program",      "workload",        "images",  "samples",        "batches",      "wall_s",      "cpu_s",
          "images_per_s", "wait_share",      "ttfb_s",  "peak_rss_bytes", "errors",       "missing_xml", "digest",
          "decoded_own",  "decoded_libjpeg", "refused", "copied_bytes",   "allocations",  "labels_hash", "files_seen",
          "delivered",    "skipped",         "failed",  "unfinished",     "without_boxes"})
      EXPECT_TRUE(line.contains(key)) << key;
    EXPECT_EQ(line["program"], "penstock-imagenet");
    EXPECT_EQ(line["workload"], "boxes");
    EXPECT_EQ(line["images"], 6);
    EXPECT_EQ(line["samples"], 7);  // boxes of files 0 .. 5: 0 1 2, 1 for the whole picture, 1 2
    EXPECT_EQ(line["batches"], 2);
    EXPECT_EQ(line["missing_xml"], 1);
    EXPECT_EQ(line["digest"], lines[0]["digest"]);
    EXPECT_GT(line["cpu_s"], 0);
  }
}

TEST(ImagenetProgram, StraightforwardPrintsTheSameFields) {
  const SampleSet set(6);
  const std::string flags = "--reps 1 --json --epochs 2 --batch 4 --with-unit --layout ";
  for (const char* layout : {"nhwc --workload boxes", "nchw --workload train", "nchw --workload eval"}) {
    const Outcome plain = run(set, "--reps 1 --epochs 2 --batch 4 --straightforward --layout " + std::string(layout));
    ASSERT_EQ(plain.exit_code, 0) << plain.err;
    const json ours = run(set, flags + layout).lines().at(0);
    ASSERT_THAT(plain.lines(), SizeIs(1));
    const json theirs = plain.lines().at(0);
    for (const auto& [key, value] : theirs.items()) EXPECT_TRUE(key == "straightforward" || ours.contains(key)) << key;
    for (const char* same : {"program", "workload", "images", "samples", "batches"})
      EXPECT_EQ(theirs[same], ours[same]) << same;
  }
}

TEST(ImagenetProgram, DigestDoesNotDependOnThreadsMemoryOrBatches) {
  const SampleSet set(24);
  for (const char* workload : {"boxes", "train", "eval"}) {
    const std::string work = std::string("--workload ") + workload + " ";
    const std::string serial = digest_of(set, work + "--serial");
    for (const char* flags : {"", "--cpu 1", "--cpu 2", "--cpu 8", "--memory 64M", "--memory 4G", "--batch 5",
                              "--parallel 3 --open-io 2 --prefetch 4", "--digest-timed"})
      EXPECT_EQ(digest_of(set, work + flags), serial) << work << flags;
    EXPECT_NE(digest_of(set, work + "--seed 2"), serial);
  }
}

TEST(ImagenetProgram, DigestDoesNotDependOnTheDecoder) {
  const SampleSet set(24);
  for (const char* workload : {"boxes", "train", "eval"}) {
    const std::string work = std::string("--workload ") + workload + " ";
    const std::string expected = digest_of(set, work + "--decoder libjpeg");
    EXPECT_EQ(digest_of(set, work + "--decoder own"), expected) << workload;
    EXPECT_EQ(digest_of(set, work), expected) << workload;
  }
}

TEST(ImagenetProgram, TellsWhoDecodedAndWhyNotTheOwnDecoder) {
  const SampleSet set(6);
  const auto own = run(set, "--json --reps 1").lines(), ifast = run(set, "--json --reps 1 --dct ifast").lines();
  ASSERT_THAT(own, SizeIs(1));
  EXPECT_EQ(own[0]["decoded_own"], 6);
  EXPECT_EQ(own[0]["decoded_libjpeg"], 0);
  EXPECT_EQ(own[0]["refused"], json::object());
  ASSERT_THAT(ifast, SizeIs(1));
  EXPECT_EQ(ifast[0]["decoded_own"], 0);
  EXPECT_EQ(ifast[0]["decoded_libjpeg"], 6);
  EXPECT_EQ(ifast[0]["refused"], (json{{"options", 6}}));
}

TEST(ImagenetProgram, TableIsForPeople) {
  const SampleSet set(6);
  const Outcome outcome = run(set, "--reps 1 --with-unit --workload eval");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("eval, f32 nhwc"), HasSubstr("labels: 3, hash "), HasSubstr("images/s"),
                                 HasSubstr("full decode/s"), HasSubstr("digest ")));
}

TEST(ImagenetProgram, UnitIsReportedOnRequest) {
  const SampleSet set(3);
  const auto lines = run(set, "--json --reps 1 --with-unit").lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_GT(lines[0].at("full_decode_images_per_s"), 0);
  EXPECT_GT(lines[0].at("full_decode_ratio"), 0);
}

TEST(ImagenetProgram, BrokenPictureEndsItWithOneLineAndWhatThereIs) {
  const SampleSet set(6);
  SampleSet::write(set.paths()[3], "no picture");
  const Outcome outcome = run(set, "--json --reps 2");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(set.paths()[3]));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["failed"], 1);
  EXPECT_FALSE(lines[0].contains("interrupted"));
}

TEST(ImagenetProgram, BrokenPictureIsInTheTableToo) {
  const SampleSet set(6);
  SampleSet::write(set.paths()[3], "no picture");
  const Outcome outcome = run(set, "--reps 2 --quiet");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("warm-up"), HasSubstr("ended by an error"), HasSubstr("+ failed 1")));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(ImagenetProgram, PeerEndsAtABrokenPicture) {
  const SampleSet set(6);
  SampleSet::write(set.paths()[3], "no picture");
  const Outcome outcome =
      shell(set, "printf 'go\\ngo\\n' | $P --peer --workload W3 --data '" + set.images() + "' --batch 4");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(set.paths()[3]));
  for (const json& line : outcome.lines()) EXPECT_TRUE(line.contains("event")) << line;
}

TEST(ImagenetProgram, BrokenPicturesAreSkippedUpToTheLimit) {
  const SampleSet set(6);
  SampleSet::write(set.paths()[3], "no picture");
  SampleSet::write(set.paths()[4], "");
  const auto lines = run(set, "--json --reps 1 --on-error skip").lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["errors"], 2);
  EXPECT_EQ(lines[0]["images"], 4);
  EXPECT_EQ(run(set, "--json --reps 1 --on-error skip:2").exit_code, 0);
  EXPECT_EQ(run(set, "--json --reps 1 --on-error skip:1").exit_code, 1);
}

TEST(ImagenetProgram, StepsCountBatches) {
  const SampleSet set(12);
  const auto lines = run(set, "--json --reps 1 --workload eval --batch 2 --steps 3 --epochs 5").lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["batches"], 3);
  EXPECT_EQ(lines[0]["samples"], 6);
  EXPECT_EQ(lines[0]["images"], 6);
}

TEST(ImagenetProgram, CachedBatchesAreServedAgainAndAgain) {
  const SampleSet set(12);
  const auto lines = run(set, "--json --reps 1 --workload eval --batch 2 --cached-batches 2").lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["batches"], 6);
  EXPECT_EQ(lines[0]["samples"], 12);
  EXPECT_EQ(lines[0]["decoded_libjpeg"], 0);
}

TEST(ImagenetProgram, FileListDecidesWhatIsRead) {
  const SampleSet set(6);
  const std::string list = (set.folder() / "list.txt").string();
  SampleSet::write(list, set.paths()[1] + "\n\n" + set.paths()[2] + "\n");
  const auto lines = shell(set, "$P --file-list '" + list + "' --json --reps 1 --workload eval").lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["images"], 2);
}

TEST(ImagenetProgram, ConfigFileNamesTheList) {
  const SampleSet set(6);
  const std::string list = (set.folder() / "list.txt").string(), config = (set.folder() / "ilsvrc.json").string();
  SampleSet::write(list, set.paths()[1] + "\n" + set.paths()[2] + "\n");
  SampleSet::write(config, json({{"data", {{"train_filelist", list}, {"batch_size", 1}, {"num_classes", 3}}}}).dump());
  const auto lines = shell(set, "$P -c '" + config + "' --json --reps 1 --workload eval").lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["batches"], 2);
}

TEST(ImagenetProgram, MoreLabelsThanClassesIsAnError) {
  const SampleSet set(6);
  const std::string config = (set.folder() / "ilsvrc.json").string();
  SampleSet::write(config, R"({"data": {"num_classes": 2}})");
  const Outcome outcome = run(set, "-c '" + config + "'");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("3 labels"));
}

TEST(ImagenetProgram, RanksShareTheFiles) {
  const SampleSet set(7);
  int images = 0;
  std::set<std::string> digests;
  for (const char* rank : {"0", "1", "2"}) {
    const std::string world = std::string("PENSTOCK_WORLD_SIZE=3 PENSTOCK_RANK=") + rank;
    const auto lines =
        shell(set, world + " $P --data '" + set.images() + "' --hvd --json --reps 1 --workload eval").lines();
    ASSERT_THAT(lines, SizeIs(1));
    images += lines[0]["images"].get<int>();
    digests.insert(lines[0]["digest"].get<std::string>());
  }
  EXPECT_EQ(images, 7);
  EXPECT_EQ(digests.size(), 3U);
}

TEST(ImagenetProgram, HvdWithoutALauncherIsAnError) {
  const SampleSet set(3);
  const Outcome outcome = shell(set, "env -i $P --data '" + set.images() + "' --hvd");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--hvd"));
}

TEST(ImagenetProgram, ExplainGoesToStdoutWithTheTable) {
  const SampleSet set(3);
  const Outcome outcome = run(set, "--explain --reps 1 --quiet");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("the consumer waits"), HasSubstr("bottleneck: "), HasSubstr("read_image")));
  EXPECT_EQ(outcome.err, "");
}

TEST(ImagenetProgram, ExplainGoesToStderrBesideJsonAndIsInIt) {
  const SampleSet set(3);
  const Outcome outcome = run(set, "--explain --reps 1 --quiet --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the consumer waits"), HasSubstr("bottleneck: "), HasSubstr("read_image")));
  ASSERT_THAT(outcome.lines(), SizeIs(1));  // and all are JSON
  const json explanation = outcome.lines().at(0)["explanation"];
  EXPECT_EQ(explanation["delivered"]["samples"], outcome.lines().at(0)["batches"]);
  EXPECT_THAT(explanation["stages"].at(1)["name"].get<std::string>(), HasSubstr("read_image"));
}

TEST(ImagenetProgram, StatsNameTheStages) {
  const SampleSet set(3);
  const std::string file = (set.folder() / "stats.json").string();
  ASSERT_EQ(run(set, "--reps 1 --stats '" + file + "'").exit_code, 0);
  const json stats = json::parse(contents(file));
  EXPECT_THAT(stats["pipeline"].get<std::string>(), AllOf(HasSubstr("read_image"), HasSubstr("crop_boxes")));
  EXPECT_FALSE(stats["stages"].empty());
  EXPECT_THAT(stats["repetitions"], SizeIs(1));
}

TEST(ImagenetProgram, GeneratedPicturesCanBeRead) {
  const SampleSet set(0);
  const std::string data = (set.folder() / "generated").string();
  ASSERT_EQ(shell(set, "$P --data '" + data + "' --generate 3").exit_code, 0);
  const auto lines = shell(set, "$P --data '" + data + "' --json --reps 1").lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["images"], 3);
  EXPECT_EQ(lines[0]["missing_xml"], 0);
}

TEST(ImagenetProgram, CtrlCPrintsWhatThereIs) {
  const SampleSet set(6);
  // The consumer takes an hour for its first batch. --foreground: one signal, not a second to the group, which would
  // end the program at once.
  const Outcome outcome = shell(set, "timeout --foreground --preserve-status -s INT -k 30 2 $P --data '" +
                                         set.images() + "' --json --batch 2 --step-time 1h --workload eval --reps 1");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["interrupted"], true);
}

// A folder that nobody lists to its end: two links in each of 30 folders lead to the next one.
std::string make_endless_folder(const std::filesystem::path& parent) {
  for (int level = 0; level < 30; ++level) {
    const std::filesystem::path folder = parent / ("level" + std::to_string(level));
    std::filesystem::create_directory(folder);
    for (const char* link : {"left", "right"})
      std::filesystem::create_directory_symlink("../level" + std::to_string(level + 1), folder / link);
  }
  std::filesystem::create_directory(parent / "level30");
  return (parent / "level0").string();
}

// Nothing has been measured yet, so there is nothing to save.
TEST(ImagenetProgram, CtrlCEndsItAtOnceWhileFilesAreSought) {
  const SampleSet set(0);
  const std::string folder = make_endless_folder(set.folder());
  const Outcome outcome =
      shell(set, "timeout --foreground --preserve-status -s INT -k 10 1 $P --data '" + folder + "'");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
}

TEST(ImagenetProgram, CtrlCEndsAPeerThatWaitsForALine) {
  const SampleSet set(6);
  const std::string pipe = (set.folder() / "pipe").string();
  // <> opens it for writing too, so its end never comes.
  const Outcome outcome =
      shell(set, "mkfifo '" + pipe + "'; timeout --foreground --preserve-status -s INT -k 10 1 $P --peer " +
                     "--workload W3 --data '" + set.images() + "' --batch 2 <>'" + pipe + "'");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.lines(), SizeIs(1));  // "ready"
}

TEST(ImagenetProgram, PeerAnswersEachLineWithARepetition) {
  const SampleSet set(6);
  const Outcome outcome = shell(set, "printf 'go\\ngo\\n' | $P --peer --workload W2 --data '" + set.images() +
                                         "' --annotations x --batch 4 --passes 3 --threads auto");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[0]["event"], "ready");
  EXPECT_EQ(lines[1]["event"], "first_batch");
  EXPECT_EQ(lines[1]["shape"], json({4, 3, 224, 224}));
  EXPECT_EQ(lines[1]["dtype"], "float32");
  for (const json& line : {lines[2], lines[3]}) {
    EXPECT_EQ(line["workload"], "W2");
    EXPECT_EQ(line["images"], 18);
    EXPECT_GT(line["wall_s"], 0);
    EXPECT_GT(line["cpu_s"], 0);
  }
}

TEST(ImagenetProgram, DataWithoutPicturesIsAnError) {
  const SampleSet set(0);
  const Outcome outcome = shell(set, "$P --data /nowhere/at/all");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace penstock::bench
