// RunOptions::warm_start: what a run hands on to the next one of its pipeline.
#include <cerrno>
#include <fstream>

#include "lib/runtime/tuning_file.h"

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/file_contents.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using namespace testing;
using runtime::Tuning;
using runtime::TuningFile;
using test::file_contents;
using ::testing::HasSubstr;

struct Folder {
  test::TemporaryFolder folder;
  std::string file = (folder.path() / "tuning").string();
  void write(const std::string& text) const { std::ofstream(file, std::ios::binary) << text; }
};

std::string told(const std::function<void()>& work) {
  ::testing::internal::CaptureStderr();
  work();
  return ::testing::internal::GetCapturedStderr();
}

Knob standing_at(int stage, const std::string& name, std::int64_t value) {
  Knob knob;
  knob.name = name;
  knob.stage = stage;
  knob.get = [value] { return value; };
  return knob;
}

bool is_remembered(const Decision& each, const std::string& knob, std::int64_t to) {
  return each.reason == Reason::remembered && each.knob == knob && each.to == to;
}

// Each has a shuffle with another seed.
auto pipeline() {
  return range(1'000'000).shuffle(1000).map(
      [](std::int64_t value) {
        std::this_thread::sleep_for(1ms);
        return value;
      },
      AUTOTUNE, {.blocks = true});
}

TEST(WarmStart, BeginsWhereTheRunBeforeHasEnded) {
  const Folder folder;
  std::int64_t calls = 0;
  {
    auto run = pipeline().start({.warm_start = folder.file});
    const auto end = std::chrono::steady_clock::now() + 1100ms;
    while (std::chrono::steady_clock::now() < end) run.next();
    EXPECT_TRUE(run.decisions().empty() || run.decisions().front().reason != Reason::remembered)
        << "there was nothing yet";
  }
  const auto kept = runtime::parse_tuning(file_contents(folder.file));
  ASSERT_TRUE(kept.has_value());
  for (const auto& each : kept->knobs) {
    if (each.knob == "parallelism") calls = each.value;
  }
  ASSERT_GT(calls, 4) << "the first run has found nothing: " << file_contents(folder.file);
  auto run = pipeline().start({.warm_start = folder.file});
  run.next();
  EXPECT_TRUE(eventually([&] {
    const auto decisions = run.decisions();
    return std::ranges::any_of(decisions,
                               [&](const Decision& each) { return is_remembered(each, "parallelism", calls); });
  }));
}

TEST(WarmStart, KeepsWhatALongerRunHasFound) {
  const Folder folder;
  const std::string before = "penstock tuning 1\ncpus 1\npipeline 1 1\nknob -1 prefetch 7\nend\n";
  folder.write(before);
  { pipeline().start({.warm_start = folder.file}).next(); }
  EXPECT_EQ(file_contents(folder.file), before) << "a run of some milliseconds has found out nothing";
}

TEST(WarmStart, NeitherReadsNorWritesWhereNothingIsTuned) {
  for (const bool serial : {false, true}) {
    const Folder folder;
    folder.write("no such file");
    EXPECT_EQ(told([&] {
                auto run = range(3).start({.serial = serial, .tune = false, .warm_start = folder.file});
                rest_of(run);
              }),
              "");
    EXPECT_EQ(file_contents(folder.file), "no such file");
  }
}

TEST(WarmStart, WithoutAFolderCostsOneLineAndNoMore) {
  EXPECT_EQ(told([&] {
              auto run = pipeline().start({.warm_start = "/no/such/folder/tuning"});
              const auto end = std::chrono::steady_clock::now() + 1100ms;
              while (std::chrono::steady_clock::now() < end) EXPECT_TRUE(run.next().has_value());
            }),
            "penstock: RunOptions::warm_start: cannot write '/no/such/folder/tuning': there is no folder "
            "'/no/such/folder'. The run is not affected\n");
}

TEST(WarmStart, LeavesKnobsOfTheUserAlone) {
  const Folder folder;
  TuningFile first(folder.file, "p", "m");
  EXPECT_TRUE(first.read(2).empty());
  Knob fixed = standing_at(1, "parallelism", 9);
  fixed.user_fixed = true;
  first.write({fixed, standing_at(1, "window", 5), standing_at(-1, "memory", 100), standing_at(-1, "prefetch", 3)});
  const auto knobs = TuningFile(folder.file, "p", "m").read(2);
  ASSERT_EQ(knobs.size(), 2u) << "neither fixed ones nor budgets";
  EXPECT_EQ(knobs[0].knob, "window");
  EXPECT_EQ(knobs[0].stage, 1);
  EXPECT_EQ(knobs[0].value, 5);
  EXPECT_EQ(knobs[1].knob, "prefetch");
  EXPECT_EQ(knobs[1].stage, -1);
}

TEST(WarmStart, IsOfTheSamePipelineAndMachineWithAsManyCpus) {
  const Folder folder;
  TuningFile file(folder.file, "a pipeline", "m");
  file.read(2);
  file.write({standing_at(-1, "prefetch", 3)});
  EXPECT_EQ(TuningFile(folder.file, "a pipeline", "m").read(2).size(), 1u);
  EXPECT_EQ(TuningFile(folder.file, "a pipeline", "m").read(4).size(), 0u);
  EXPECT_EQ(TuningFile(folder.file, "b pipeline", "m").read(2).size(), 0u);
  EXPECT_EQ(TuningFile(folder.file, "a pipeline", "another machine").read(2).size(), 0u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.folder.path()), {}), 1)
      << "nothing is left beside the file";
}

TEST(WarmStart, SaysThatAFileIsOfAnotherKind) {
  const std::string whole = "penstock tuning 1\ncpus 2\npipeline 1 1\nknob 0 window 4\nend\n";
  ASSERT_TRUE(runtime::parse_tuning(whole).has_value());
  for (std::size_t length = 0; length + 4 < whole.size(); ++length)
    EXPECT_FALSE(runtime::parse_tuning(whole.substr(0, length))) << length;
  for (const char* line : {"knob 0 window x", "knob 0 window 99999999999999999999", "knob -2 window 1",
                           "knob 0 memory 1", "knob 0", "cpus", "else 1", ""}) {
    EXPECT_FALSE(runtime::parse_tuning("penstock tuning 1\n" + std::string(line) + "\nend\n")) << line;
  }
  const Folder folder;
  folder.write(whole.substr(0, 40));
  TuningFile file(folder.file, "p", "m");
  EXPECT_THAT(told([&] { EXPECT_TRUE(file.read(2).empty()); }),
              HasSubstr("warm_start: cannot use '" + folder.file + "'"));
}

TEST(WarmStart, SaysThatItCannotWrite) {
  const Folder folder;
  std::filesystem::create_directory(folder.file);
  const TuningFile file(folder.file, "p", "m");
  EXPECT_THAT(told([&] { file.write({}); }),
              HasSubstr("warm_start: cannot write '" + folder.file + "': Is a directory"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.folder.path()), {}), 1)
      << "nothing is left beside it";
}

struct FakeFolder {
  const std::shared_ptr<test::FakeFileSystem> files = std::make_shared<test::FakeFileSystem>();
  const std::string path = "/d/tuning";
  FakeFolder() { files->add("/d", io::FileKind::folder); }
  TuningFile file() const { return TuningFile(path, "p", "m", files); }
  std::size_t knobs() const { return file().read(2).size(); }
};

TEST(WarmStart, KeepsTheOldFileWhereTheDiskIsFull) {
  const FakeFolder folder;
  TuningFile file = folder.file();
  file.read(2);
  file.write({standing_at(-1, "prefetch", 3)});
  const std::string before = folder.files->bytes_of(folder.path);
  folder.files->fail(folder.path, {.replace = ENOSPC});
  EXPECT_THAT(told([&] { file.write({standing_at(-1, "prefetch", 4)}); }),
              HasSubstr("cannot write '/d/tuning': No space left on device"));
  EXPECT_EQ(folder.files->bytes_of(folder.path), before);
  EXPECT_EQ(folder.knobs(), 1u);
}

TEST(WarmStart, BeginsAnewWhereTheFileCannotBeRead) {
  const FakeFolder folder;
  TuningFile file = folder.file();
  file.read(2);
  file.write({standing_at(-1, "prefetch", 3)});
  folder.files->fail(folder.path, {.read = EINTR, .times = 2, .at_once = 5});
  EXPECT_EQ(folder.knobs(), 1u) << "interrupted and short reads go on";
  folder.files->fail(folder.path, {.read = EIO, .after = 20});
  EXPECT_THAT(told([&] { EXPECT_EQ(folder.knobs(), 0u); }), HasSubstr("cannot use '/d/tuning'"));
  folder.files->fail(folder.path, {.open = EACCES});
  EXPECT_EQ(told([&] { EXPECT_EQ(folder.knobs(), 0u); }), "");
}

}  // namespace
}  // namespace penstock
