// Checkpoints in files.
#include "lib/runtime/checkpoint_file.h"

#include <penstock/checkpoint_file.h>

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/support.h"
#include "tests/support/environment.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_file_system.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using namespace testing;
using test::FakeFileSystem;
using ::testing::HasSubstr;

const std::string kPath = "/d/train.ckpt", kPrevious = kPath + ".previous";

Checkpoint behind(std::int64_t batches) {
  auto run = range(1000).shuffle(1000, {.seed = 7}).start();
  for (std::int64_t i = 0; i < batches; ++i) run.next();
  return run.checkpoint();
}

TEST(CheckpointFile, GivesWhatWasSaved) {
  test::TemporaryFolder folder;
  const auto path = (folder.path() / "train.ckpt").string();
  EXPECT_EQ(load_checkpoint(path), nullptr) << "the first time";
  const auto data = range(100).shuffle(100, {.seed = 7});
  auto run = data.start();
  for (int i = 0; i < 30; ++i) run.next();
  save_checkpoint(path, run);
  auto again = data.start({.resume_from = load_checkpoint(path)});
  EXPECT_EQ(rest_of(again), rest_of(run));
  auto anew = data.start({.resume_from = load_checkpoint(path + ".other")});
  EXPECT_EQ(rest_of(anew).size(), 100u);
}

TEST(CheckpointFile, KeepsTheLastTwo) {
  FakeFileSystem files;
  for (const std::int64_t batches : {1, 2, 3}) runtime::save_checkpoint(files, kPath, behind(batches));
  EXPECT_EQ(runtime::load_checkpoint(files, kPath)->delivered, 3);
  EXPECT_EQ(Checkpoint::from_bytes(files.bytes_of(kPrevious)).delivered, 2);
  runtime::save_checkpoint(files, kPath, behind(3));
  EXPECT_EQ(Checkpoint::from_bytes(files.bytes_of(kPrevious)).delivered, 2) << "the same again is no other one";
}

TEST(CheckpointFile, IsTheOneBeforeWhereTheNewestIsDamaged) {
  FakeFileSystem files;
  for (const std::int64_t batches : {1, 2}) runtime::save_checkpoint(files, kPath, behind(batches));
  const std::string newest = files.bytes_of(kPath);
  for (std::size_t size = 0; size < newest.size(); ++size) {
    files.add(kPath, newest.substr(0, size));
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(runtime::load_checkpoint(files, kPath)->delivered, 1) << size;
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                ::testing::AllOf(HasSubstr(kPrevious), HasSubstr("not a whole checkpoint")));
  }
  files.add(kPrevious, "nothing");
  EXPECT_ERROR(runtime::load_checkpoint(files, kPath), ErrorCode::data_loss, "'/d/train.ckpt'");
}

TEST(CheckpointFile, ThatIsDamagedTakesNobodysPlace) {
  FakeFileSystem files;
  for (const std::int64_t batches : {1, 2}) runtime::save_checkpoint(files, kPath, behind(batches));
  files.add(kPath, "damaged");
  runtime::save_checkpoint(files, kPath, behind(3));
  EXPECT_EQ(Checkpoint::from_bytes(files.bytes_of(kPath)).delivered, 3);
  EXPECT_EQ(Checkpoint::from_bytes(files.bytes_of(kPrevious)).delivered, 1);
}

TEST(CheckpointFile, IsNotReadWhereItIsMuchTooLarge) {
  FakeFileSystem files;
  files.add(kPath, std::string(300 << 20, 'x'));
  EXPECT_ERROR(runtime::load_checkpoint(files, kPath), ErrorCode::data_loss, "314572800 bytes, more than any has");
  EXPECT_THAT(files.calls(), ::testing::Not(::testing::Contains("read")));
}

TEST(CheckpointFile, MayHoldALargeSavePoint) {
  FakeFileSystem files;
  Checkpoint large = behind(2);
  large.kind = Checkpoint::Kind::replay;
  large.save_point = std::string(5 << 20, 'x');
  runtime::save_checkpoint(files, kPath, large);
  EXPECT_EQ(runtime::load_checkpoint(files, kPath)->save_point, large.save_point);
}

TEST(CheckpointFile, ThatMayNotBeReadIsNoDamagedOne) {
  FakeFileSystem files;
  for (const std::int64_t batches : {1, 2}) runtime::save_checkpoint(files, kPath, behind(batches));
  files.fail(kPath, {.open = EACCES});
  EXPECT_ERROR(runtime::load_checkpoint(files, kPath), ErrorCode::permission_denied, "Permission denied");
}

// Whatever fails, both files are as they were, or the next ones.
TEST(CheckpointFile, IsWholeWhereWritingFails) {
  for (const std::string& failing : {kPath, kPrevious}) {
    for (const test::Faults& faults :
         {test::Faults{.create = EWOULDBLOCK}, {.write = ENOSPC}, {.publish = EIO}, {.write = ENOSPC, .after = 40}}) {
      FakeFileSystem files;
      for (const std::int64_t batches : {1, 2}) runtime::save_checkpoint(files, kPath, behind(batches));
      files.fail(failing, faults);
      EXPECT_THROW(runtime::save_checkpoint(files, kPath, behind(3)), Error);
      EXPECT_EQ(Checkpoint::from_bytes(files.bytes_of(kPath)).delivered, 2);
      EXPECT_EQ(Checkpoint::from_bytes(files.bytes_of(kPrevious)).delivered, failing == kPath ? 2 : 1);
    }
  }
}

[[noreturn]] void save_for_ever(const std::string& path, const std::vector<Checkpoint>& some) {
  for (std::size_t i = 0;; ++i) save_checkpoint(path, some[i % some.size()]);
}

TEST(CheckpointFile, IsThereWhenItsWriterIsKilled) {
  test::TemporaryFolder folder;
  const auto path = (folder.path() / "train.ckpt").string();
  test::Random random(5);
  const std::vector<Checkpoint> some{behind(0), behind(1), behind(2)};
  save_checkpoint(path, some.back());
  const std::int64_t rounds = test::how_many(20);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) save_for_ever(path, some);
    ::usleep(static_cast<useconds_t>(random.below(30'000)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ::testing::internal::CaptureStderr();
    EXPECT_NE(load_checkpoint(path), nullptr);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "the newest one is whole";
  }
}

TEST(CheckpointText, TellsPeopleWhereItStands) {
  Checkpoint checkpoint = behind(3);
  const std::string ordinal = std::to_string(checkpoint.last.ordinal);
  EXPECT_EQ(to_text(checkpoint), "epoch 0, behind 3 elements and errors\ngoes on by position, behind element " +
                                     ordinal +
                                     " of the source, in pass 0\n0 range(start=0, stop=1000, step=1)\n1 "
                                     "shuffle(buffer_size=1000, seed=7)\n");
  checkpoint.errors_since = 2;
  EXPECT_THAT(to_text(checkpoint), HasSubstr("behind 3 elements and errors, the last 2 of them errors\n"));
  EXPECT_THAT(to_text(behind(0)), HasSubstr("goes on by position, from the beginning of the epoch\n"));
  checkpoint.kind = Checkpoint::Kind::replay;
  EXPECT_THAT(to_text(checkpoint), HasSubstr("goes on by replay: runs the epoch again"));
  checkpoint.save_point = "stands here";
  checkpoint.since_save_point = 2;
  EXPECT_THAT(to_text(checkpoint), HasSubstr("goes on by replay from a save point, and leaves out the last 2\n"));
  checkpoint.epoch_ended = true;
  EXPECT_THAT(to_text(checkpoint), HasSubstr("epoch 0, at its end, behind 3"));
}

}  // namespace
}  // namespace penstock
