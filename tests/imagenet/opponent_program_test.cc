// penstock-opponent as a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/pictures/sample_set.h"

namespace penstock::bench {
namespace {

using pictures::SampleSet;

// A child whose stdout is read here. Killed and awaited when the object goes.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[0]);
    EXPECT_EQ(::posix_spawn(&process_, pointers.front(), &actions, nullptr, pointers.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    out_ = ends[0];
  }
  ~Child() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      wait();
    }
    ::close(out_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Up to the end of line, or of all output.
  std::string read_line() {
    std::string line;
    for (char next = 0; next != '\n' && ::read(out_, &next, 1) == 1;) line += next;
    return line;
  }
  void interrupt() { ::kill(process_, SIGINT); }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return status;
  }

 private:
  pid_t process_ = -1;
  int out_ = -1;
};

// Through a shell, an exit code of 130 and a death by the signal look the same.
TEST(OpponentProgram, CtrlCEndsItWith130BehindTheRowsThatThereAre) {
  const SampleSet set(6);
  Child child(
      {PENSTOCK_OPPONENT, "--data", set.images(), "--batch", "4", "--epochs", "1", "--reps", "1000000", "--json"});
  const std::string row = child.read_line();
  child.interrupt();
  const int status = child.wait();
  EXPECT_THAT(row, ::testing::HasSubstr("\"program\":\"penstock-imagenet\""));
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

}  // namespace
}  // namespace penstock::bench
