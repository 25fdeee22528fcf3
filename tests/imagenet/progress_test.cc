#include "bench/imagenet/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace penstock::bench {
namespace {

constexpr const char* clear_line = "\r\033[K";

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

// What update() prints where 40 of 160 images took so long.
std::string printed_after(std::chrono::milliseconds passed, bool terminal) {
  Progress::Clock::time_point now{};
  Progress progress(false, terminal, [&now] { return now; });
  progress.begin("rep 1", 160);
  now += passed;
  testing::internal::CaptureStderr();
  progress.update(40, 0.5);
  return testing::internal::GetCapturedStderr();
}

// A quarter of 24 places; another three quarters of the time are left.
TEST(ProgressBar, IsDrawnOnATerminal) {
  EXPECT_THAT(printed_after(4s, true),
              AllOf(HasSubstr("\rrep 1 [######..................]  25 %"), HasSubstr("10 images/s"),
                    HasSubstr("waiting 50 %"), HasSubstr("12 s left")));
  EXPECT_EQ(printed_after(100ms, true), "");
}

TEST(ProgressBar, IsALineElsewhere) {
  EXPECT_EQ(printed_after(20s, false), "rep 1: 40 of 160 images, 2 images/s, waiting 50 %, 60 s left\n");
  EXPECT_EQ(printed_after(9s, false), "");
}

TEST(ProgressBar, IsClearedByAnExceptionToo) {
  Progress progress(false, true);
  testing::internal::CaptureStderr();
  try {
    const ProgressBar bar(progress, "rep 1", 10);
    throw std::runtime_error("planted");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(testing::internal::GetCapturedStderr(), clear_line);
  }
}

TEST(ProgressBar, SaysNothingWhereItIsQuietOrNoTerminal) {
  for (Progress progress : {Progress(true, true), Progress(false, false)}) {
    testing::internal::CaptureStderr();
    { const ProgressBar bar(progress, "rep 1", 10); }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
}

}  // namespace
}  // namespace penstock::bench
