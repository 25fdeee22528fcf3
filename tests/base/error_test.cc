#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/error.h>

#include <cerrno>
#include <future>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/base/errno_code.h"

namespace penstock {
namespace {

template <class E> std::exception_ptr pointer_to(E error) { return std::make_exception_ptr(std::move(error)); }

std::exception_ptr system_error(int number) {
  return pointer_to(std::system_error(number, std::generic_category(), "open"));
}

TEST(ErrorCode, EachHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) names.insert(to_string(static_cast<ErrorCode>(i)));
  EXPECT_EQ(names.size(), 11u);
  EXPECT_EQ(to_string(ErrorCode::data_loss), "data_loss");
  EXPECT_EQ(to_string(ErrorCode::internal), "internal");
  EXPECT_EQ(to_string(static_cast<ErrorCode>(200)), "unknown");
}

TEST(CodeOf, FollowsTheTypeOfTheException) {
  EXPECT_EQ(code_of(pointer_to(Error(ErrorCode::deadline, "late"))), ErrorCode::deadline);
  EXPECT_EQ(code_of(pointer_to(GraphError("bad"))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(pointer_to(std::invalid_argument("x"))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(pointer_to(std::bad_alloc())), ErrorCode::resource_exhausted);
  EXPECT_EQ(code_of(pointer_to(std::runtime_error("x"))), ErrorCode::internal);
  EXPECT_EQ(code_of(pointer_to(42)), ErrorCode::internal);
  EXPECT_EQ(code_of(nullptr), ErrorCode::internal);
}

TEST(CodeOf, TranslatesErrno) {
  EXPECT_EQ(code_of(system_error(ENOENT)), ErrorCode::not_found);
  EXPECT_EQ(code_of(system_error(EACCES)), ErrorCode::permission_denied);
  EXPECT_EQ(code_of(system_error(EMFILE)), ErrorCode::resource_exhausted);
  EXPECT_EQ(code_of(system_error(EIO)), ErrorCode::unavailable);
  EXPECT_EQ(code_of(system_error(ETIMEDOUT)), ErrorCode::deadline);
  EXPECT_EQ(code_of(system_error(ECANCELED)), ErrorCode::cancelled);
  EXPECT_EQ(code_of(system_error(EINVAL)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(system_error(ENOSYS)), ErrorCode::unimplemented);
  EXPECT_EQ(code_of(system_error(EXDEV)), ErrorCode::internal);
}

TEST(CodeOfErrno, GivesTheOtherCodeWhereTheNumberTellsNothing) {
  EXPECT_EQ(code_of_errno(ENOENT, ErrorCode::unavailable), ErrorCode::not_found);
  EXPECT_EQ(code_of_errno(ESTALE, ErrorCode::internal), ErrorCode::unavailable);
  EXPECT_EQ(code_of_errno(EXDEV, ErrorCode::unavailable), ErrorCode::unavailable);
}

TEST(CodeOf, DoesNotTakeAnotherCategoryForErrno) {
  const std::error_code broken = std::make_error_code(std::future_errc::broken_promise);
  EXPECT_EQ(code_of(pointer_to(std::system_error(broken))), ErrorCode::internal);
}

TEST(MessageOf, IsTheTextOfAnyException) {
  EXPECT_EQ(message_of(pointer_to(std::runtime_error("no disk"))), "no disk");
  EXPECT_EQ(message_of(pointer_to(std::bad_alloc())),
            "out of memory (give the run less by RunOptions::memory_bytes, or lower parallelism)");
  EXPECT_EQ(message_of(nullptr), "unknown exception");
}

TEST(MessageOf, TellsTypeAndValueOfWhatIsNoStdException) {
  struct Mine {};
  EXPECT_EQ(message_of(pointer_to(42)), "unknown exception of type int: 42");
  EXPECT_EQ(message_of(pointer_to<const char*>("no disk")), "unknown exception of type char const*: 'no disk'");
  EXPECT_EQ(message_of(pointer_to<const char*>(nullptr)), "unknown exception of type char const*: ''");
  EXPECT_THAT(message_of(pointer_to(std::string("no disk"))), ::testing::EndsWith(": 'no disk'"));
  EXPECT_THAT(message_of(pointer_to(Mine())), ::testing::HasSubstr("Mine"));
}

struct Mute : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST(MessageOf, SurvivesAWhatThatGivesNothing) {
  EXPECT_THAT(message_of(pointer_to(Mute())), ::testing::MatchesRegex("exception of type .*Mute without a text"));
}

std::exception_ptr nested(int depth) {
  try {
    if (depth > 1) std::rethrow_exception(nested(depth - 1));
    throw std::runtime_error("disk 1");
  } catch (...) {
    if (depth == 1) return std::current_exception();
    try {
      std::throw_with_nested(std::runtime_error("disk " + std::to_string(depth)));
    } catch (...) {
      return std::current_exception();
    }
  }
}

TEST(MessageOf, TellsNestedExceptions) {
  EXPECT_EQ(message_of(nested(3)), "disk 3: disk 2: disk 1");
  EXPECT_THAT(message_of(nested(100)),
              ::testing::AllOf(::testing::StartsWith("disk 100: disk 99: "), ::testing::EndsWith(": ..."),
                               ::testing::Not(::testing::HasSubstr("50"))));
}

struct NothingNested : std::runtime_error, std::nested_exception {
  NothingNested() : std::runtime_error("alone") {}
};

TEST(MessageOf, TakesANestedExceptionThatHoldsNone) { EXPECT_EQ(message_of(pointer_to(NothingNested())), "alone"); }

TEST(ElementError, NamesOpPlaceAndSourceItem) {
  const ErrorPlace place{.op = "map",
                         .position = 2,
                         .call_site = "train.cc:14",
                         .ordinal = 17,
                         .source_ordinal = 12,
                         .origin = "a.jpg",
                         .epoch = 3};
  const ElementError error(place, pointer_to(Error(ErrorCode::data_loss, "not a JPEG file")));
  EXPECT_STREQ(error.what(),
               "map (op 2 at train.cc:14) failed at element 17 (source element 12, 'a.jpg') of "
               "epoch 3: not a JPEG file");
  EXPECT_EQ(error.code(), ErrorCode::data_loss);
  EXPECT_EQ(error.place().origin, "a.jpg");
}

TEST(ElementError, ShowsNamesThatWouldSpoilTheTextOrTheTerminal) {
  ErrorPlace place;
  place.op = "map";
  place.origin = std::string("a\0b\033[2J.jpg", 11);
  const ElementError error(place, pointer_to(std::runtime_error("boom")));
  EXPECT_STREQ(error.what(), "map failed at an element ('a\\x00b\\x1b[2J.jpg') of epoch 0: boom");
  place.origin = std::string(1 << 20, 'x') + ".jpg";
  const ElementError endless(place, pointer_to(1));
  EXPECT_LT(std::string(endless.what()).size(), 1000u);
  EXPECT_THAT(endless.what(), ::testing::HasSubstr("x.jpg'"));
}

TEST(ElementError, LeavesOutWhatIsUnknown) {
  const ElementError error({}, pointer_to(std::runtime_error("boom")));
  EXPECT_STREQ(error.what(), "an op failed in epoch 0: boom");
}

TEST(ElementError, KeepsTheOriginalForRethrow) {
  const ElementError error(ErrorPlace(), pointer_to(std::out_of_range("index 7")));
  const ElementError copy = error;
  EXPECT_THROW(std::rethrow_exception(copy.cause()), std::out_of_range);
}

}  // namespace
}  // namespace penstock
