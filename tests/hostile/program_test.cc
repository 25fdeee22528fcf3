// penstock-imagenet on a folder in which good files lie between hostile ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/hostile/inputs.h"
#include "tests/support/pictures/sample_set.h"

namespace penstock::hostile {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using pictures::SampleSet;

// Those that do the same under the settings of the program's default workload.
std::vector<Input> inputs() {
  std::vector<Input> all;
  for (const auto& some : {pictures(), annotations(), boxes()})
    std::copy_if(some.begin(), some.end(), std::back_inserter(all), [](const Input& input) {
      const bool is_default = input.mode.name == "boxes tf" || input.mode.name == "eval";
      return is_default && !input.mode.change && !input.needs_no_rights;
    });
  return all;
}

bool fails(const Input& input) { return input.fate.code.has_value(); }

// Puts the inputs between the set's files, which are called n0000000c_1xx; gives how many.
std::int64_t mix_in(const SampleSet& set, const std::vector<Input>& inputs) {
  int number = 0;
  for (const Input& input : inputs) {
    const std::string label = "n0000000" + std::to_string(number % 3);
    const std::string picture = set.images() + "/CLS-LOC/train/" + label + "/" + label + "_1" +
                                std::to_string(100 + number % 7) + "x" + std::to_string(number) + ".JPEG";
    const std::string annotation = set.annotation_of(picture);
    fs::create_directories(fs::path(annotation).parent_path());
    input.make({picture, annotation});
    ++number;
  }
  return number;
}

struct Answer {
  int exit_code;
  std::string err;
  json line;
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A shuffle buffer of 1 keeps the order of the files, so that digests can be compared.
Answer run(const SampleSet& set, const std::string& flags) {
  const auto at = [&](const char* name) { return (set.folder() / name).string(); };
  write(at("ilsvrc.json"), R"({"data": {"shuffle_buffer": 1}})");
  const std::string command = std::string("'" PENSTOCK_IMAGENET "' --data '") + set.images() + "' -c '" +
                              at("ilsvrc.json") + "' --json --reps 1 --batch 4 " + flags + " >'" + at("out") + "' 2>'" +
                              at("err") + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(at("err")),
          json::parse(contents(at("out")), nullptr, false)};
}

void expect_to_add_up(const json& line, std::int64_t files, std::int64_t skipped) {
  EXPECT_EQ(line["files_seen"], files);
  EXPECT_EQ(line["skipped"], skipped);
  EXPECT_EQ(line["failed"], 0);
  EXPECT_EQ(line["unfinished"], 0);
  EXPECT_EQ(line["delivered"], files - skipped);
  EXPECT_EQ(line["images"], line["delivered"]);
  EXPECT_EQ(line["errors"], skipped);
}

void expect_all_files_to_add_up(const std::vector<Input>& hostile, const std::string& flags) {
  const SampleSet set(12);
  const std::int64_t mixed = mix_in(set, hostile);
  const std::int64_t bad = std::count_if(hostile.begin(), hostile.end(), fails);
  const std::int64_t epochs = flags.ends_with("2") ? 2 : 1;
  const Answer answer = run(set, flags);
  ASSERT_EQ(answer.exit_code, 0) << answer.err;
  SCOPED_TRACE(flags + ": " + answer.line.dump());
  expect_to_add_up(answer.line, epochs * (12 + mixed), epochs * bad);
}

TEST(HostileFolder, FilesSeenAreDeliveredSkippedAndFailed) {
  const auto hostile = inputs();
  ASSERT_GT(hostile.size(), 60u);
  for (const char* flags : {"--on-error skip", "--on-error skip --serial", "--on-error skip --cpu 4 --epochs 2"})
    expect_all_files_to_add_up(hostile, flags);
}

// Of these workloads the paths tell the labels, so no annotation is read: only pictures can be bad.
TEST(HostileFolder, FilesSeenByTrainAndEvalAreDeliveredSkippedAndFailed) {
  auto hostile = inputs();
  std::erase_if(hostile, [](const Input& input) { return input.mode.boxes.has_value(); });
  ASSERT_GT(hostile.size(), 30u);
  for (const char* flags : {"--workload train --on-error skip", "--workload train --on-error skip --serial",
                            "--workload train --on-error skip --cpu 4 --epochs 2", "--workload eval --on-error skip"})
    expect_all_files_to_add_up(hostile, flags);
}

TEST(HostileFolder, GoodFilesAreTheSameAsWithoutTheBadOnes) {
  auto bad = inputs();
  std::erase_if(bad, [](const Input& input) { return !fails(input); });
  const SampleSet mixed(12), alone(12);
  mix_in(mixed, bad);
  const Answer with = run(mixed, "--on-error skip"), without = run(alone, "");
  ASSERT_EQ(with.exit_code, 0) << with.err;
  ASSERT_EQ(without.exit_code, 0) << without.err;
  expect_to_add_up(without.line, 12, 0);
  EXPECT_EQ(with.line["digest"], without.line["digest"]);
  for (const char* key : {"samples", "images", "missing_xml", "damaged", "clamped_boxes", "without_boxes"})
    EXPECT_EQ(with.line[key], without.line[key]) << key;
}

TEST(HostileFolder, RepairsAreCounted) {
  const SampleSet set(12);
  const std::int64_t missing = run(set, "").line["missing_xml"], without_boxes = run(set, "").line["without_boxes"];
  auto repaired = inputs();
  std::erase_if(repaired,
                [](const Input& input) { return input.fate.counted.empty() || input.mode.name != "boxes tf"; });
  for (Input& input : boxes())
    if (input.mode.name == "boxes clamp" && input.fate.counted == "clamped 1") repaired.push_back(std::move(input));
  const std::int64_t mixed = mix_in(set, repaired);
  const auto having = [&](const char* counted) {
    return std::count_if(repaired.begin(), repaired.end(),
                         [&](const Input& input) { return input.fate.counted == counted; });
  };
  const Answer answer = run(set, "--boxes clamp");
  ASSERT_EQ(answer.exit_code, 0) << answer.err;
  expect_to_add_up(answer.line, 12 + mixed, 0);
  EXPECT_GE(having("clamped 1"), 4);
  EXPECT_EQ(answer.line["clamped_boxes"], having("clamped 1"));
  EXPECT_EQ(answer.line["missing_xml"], missing + having("missing XML 1"));
  EXPECT_EQ(answer.line["without_boxes"], without_boxes + having("no box 1"));
}

// --steps ends it early: what was read ahead is neither delivered nor lost.
TEST(HostileFolder, WhatWasReadAheadIsUnfinished) {
  const SampleSet set(24);
  const Answer answer = run(set, "--workload eval --steps 2");
  ASSERT_EQ(answer.exit_code, 0) << answer.err;
  EXPECT_EQ(answer.line["delivered"], 8);
  EXPECT_EQ(answer.line["skipped"], 0);
  EXPECT_EQ(answer.line["failed"], 0);
  EXPECT_GE(answer.line["files_seen"], 8);
  EXPECT_LE(answer.line["files_seen"], 24);
  EXPECT_EQ(answer.line["unfinished"], answer.line["files_seen"].get<int>() - 8);
}

void expect_what_became_of_the_files(const json& line, int delivered, int skipped, int failed, int unfinished) {
  SCOPED_TRACE(line.dump());
  EXPECT_EQ(line["files_seen"], delivered + skipped + failed + unfinished);
  EXPECT_EQ(line["delivered"], delivered);
  EXPECT_EQ(line["skipped"], skipped);
  EXPECT_EQ(line["failed"], failed);
  EXPECT_EQ(line["unfinished"], unfinished);
  EXPECT_EQ(line["errors"], skipped + failed);
}

// Serially nothing is read ahead: in batches of 4, the files before the one that ends it and behind the last full batch
// are unfinished.
TEST(HostileFolder, WhatEndedItIsFailed) {
  const SampleSet set(12);
  write(set.paths()[6], "no picture");
  const Answer at_once = run(set, "--workload eval --serial");
  EXPECT_EQ(at_once.exit_code, 1);
  expect_what_became_of_the_files(at_once.line, 4, 0, 1, 2);
  write(set.paths()[10], "no picture");
  const Answer second = run(set, "--workload eval --serial --on-error skip:1");
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, ::testing::HasSubstr(set.paths()[10]));
  expect_what_became_of_the_files(second.line, 8, 1, 1, 1);
}

TEST(HostileFolder, EachBadFileEndsItWithOneLineThatNamesIt) {
  for (const Input& input : inputs()) {
    if (!fails(input) || input.name.find(" cut at ") != std::string::npos) continue;
    const SampleSet set(2);
    mix_in(set, {input});
    const Answer answer = run(set, "");
    EXPECT_EQ(answer.exit_code, 1) << input.name;
    EXPECT_THAT(answer.err, ::testing::HasSubstr(set.folder().string())) << input.name;
    EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
    EXPECT_EQ(answer.line["failed"], 1) << input.name;
    EXPECT_GE(answer.line["unfinished"], 0) << input.name;
    EXPECT_LE(answer.line["files_seen"], 3) << input.name;
  }
}

}  // namespace
}  // namespace penstock::hostile
