#include "bench/imagenet/progress.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace penstock::bench {
namespace {

constexpr const char* clear_line = "\r\033[K";

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
