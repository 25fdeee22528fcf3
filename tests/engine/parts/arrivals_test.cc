// Packets that have come for the consumer.
#include "lib/exec/arrivals.h"

#include <stdexcept>

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

void add(Arrivals& arrivals, const std::string& text) {
  Slots slots = slots_of(text);
  EXPECT_TRUE(arrivals.add(slots));
}

std::string take(Arrivals& arrivals) {
  Slots packet;
  return arrivals.take(packet) ? text_of(packet) : "nothing";
}

std::exception_ptr failure_of(const char* text) { return std::make_exception_ptr(std::runtime_error(text)); }

std::string text_of_failure(const Arrivals& arrivals) {
  try {
    if (arrivals.failure()) std::rethrow_exception(arrivals.failure());
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(Arrivals, AreTakenInTheOrderInWhichTheyCome) {
  Arrivals arrivals;
  EXPECT_FALSE(arrivals.has_news());
  add(arrivals, "0 1");
  add(arrivals, "2 |0");
  EXPECT_TRUE(arrivals.has_news());
  EXPECT_EQ(take(arrivals), "0 1");
  EXPECT_EQ(take(arrivals), "2 |0");
  EXPECT_EQ(take(arrivals), "nothing");
  EXPECT_TRUE(arrivals.empty());
}

TEST(Arrivals, KeepNoPacketWithoutSlots) {
  Arrivals arrivals;
  add(arrivals, "");
  EXPECT_TRUE(arrivals.empty());
  EXPECT_FALSE(arrivals.has_news());
}

// Lists that the consumer has used up are filled again.
TEST(Arrivals, TakeAnEmptyListsStorageInExchange) {
  Arrivals arrivals;
  Slots slots = slots_of("0 1");
  const Slot* const place = slots.data();
  ASSERT_TRUE(arrivals.add(slots));
  Slots packet = slots_of("7");
  packet.clear();
  ASSERT_TRUE(arrivals.take(packet));
  EXPECT_EQ(packet.data(), place);
}

TEST(Arrivals, AreFollowedByTheFirstFailureAndByNothingElse) {
  Arrivals arrivals;
  add(arrivals, "0");
  EXPECT_EQ(text_of_failure(arrivals), "none");
  arrivals.fail(failure_of("first"));
  arrivals.fail(failure_of("second"));
  Slots late = slots_of("1");
  EXPECT_FALSE(arrivals.add(late));
  EXPECT_EQ(take(arrivals), "0") << "it came before";
  EXPECT_EQ(take(arrivals), "nothing");
  EXPECT_TRUE(arrivals.has_news()) << "nobody is to wait";
  EXPECT_EQ(text_of_failure(arrivals), "first");
}

}  // namespace
}  // namespace penstock::exec
