// Every input that once broke something, through its target. A crash ends the program and names the input.
#include <gtest/gtest.h>
#include <penstock/error.h>

#include <filesystem>
#include <iostream>
#include <string_view>

#include "tests/fuzz/targets.h"
#include "tests/support/file_contents.h"
#include "tests/support/source_folder.h"

namespace penstock::fuzz {
namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  void (*run)(std::string_view);
};

TEST(FuzzRegressions, StayMended) {
  int inputs = 0;
  for (const Target& target :
       {Target{"loader", loader}, Target{"jpeg", jpeg}, Target{"lines", lines}, Target{"config", config},
        Target{"checkpoint", checkpoint}, Target{"save_point", save_point}}) {
    const fs::path folder = test::source_folder() / "tests/fuzz/regressions" / target.name;
    if (!fs::exists(folder)) continue;  // nothing found yet
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::cout << target.name << " " << entry.path().filename().string()
                << std::endl;  // flushed: a crash shows the last one
      target.run(test::file_contents(entry.path()));
      ++inputs;
    }
  }
  EXPECT_GT(inputs, 0);
}

// The targets see what they look for: else everything above would pass.
TEST(FuzzTargetsDeathTest, EndTheProcessWhereAPromiseIsBroken) {
  EXPECT_DEATH(require(false, "two and two are five"), "broken promise: two and two are five");
}

TEST(FuzzTargetsDeathTest, EndTheProcessWhereAnInternalErrorShows) {
  EXPECT_DEATH(succeeds([] { throw Error(ErrorCode::internal, "planted"); }), "not an internal error");
}

}  // namespace
}  // namespace penstock::fuzz
