// take_while, unique, enumerate, scan, window, group_by_window and reduce, as a user writes them.
#include <gmock/gmock.h>
#include <penstock/penstock.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using ::testing::ElementsAre;

template <class T> std::vector<T> elements_of(const Dataset<T>& data) {
  std::vector<T> values;
  for (auto&& value : data) values.push_back(std::move(value));
  return values;
}

constexpr auto plus_one = [](std::int64_t x) { return x + 1; };

TEST(StreamMethods, TakeAsLongAsAPredicateIsTrue) {
  EXPECT_THAT(elements_of(range(10).take_while([](std::int64_t x) { return x != 3; })), ElementsAre(0, 1, 2));
  EXPECT_THAT(elements_of(range(4).repeat(2).take_while([](std::int64_t x) { return x < 3; })), ElementsAre(0, 1, 2));
  EXPECT_THAT(elements_of(range(4).take_while([](std::int64_t x) { return x < 3; }).repeat(2)),
              ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(StreamMethods, EndAnEndlessPass) {
  EXPECT_THAT(elements_of(counter().map(plus_one).take_while([](std::int64_t x) { return x < 4; })),
              ElementsAre(1, 2, 3));
}

// A mutable function begins each pass as it was given.
TEST(StreamMethods, CallACopyOfAMutableFunctionInEachPass) {
  const auto two_times = [n = 0](const std::int64_t&) mutable { return ++n <= 2; };
  const auto data = range(5).take_while(two_times).repeat(2);
  EXPECT_THAT(elements_of(data), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(elements_of(data), ElementsAre(0, 1, 0, 1));
}

TEST(StreamMethods, TakeFunctionsThatCannotBeCopied) {
  auto limit = std::make_unique<std::int64_t>(2);
  const auto data = range(5).take_while([limit = std::move(limit)](std::int64_t x) { return x < *limit; });
  EXPECT_THAT(elements_of(data.repeat(2)), ElementsAre(0, 1, 0, 1));
}

TEST(StreamMethods, GiveValuesOnce) {
  EXPECT_THAT(elements_of(from_vector(std::vector<std::string>{"b", "a", "b"}).unique()), ElementsAre("b", "a"));
}

TEST(StreamMethods, NumberElements) {
  std::string text;
  for (auto&& [number, word] : from_vector(std::vector<std::string>{"a", "b"}).enumerate(1))
    text += std::to_string(number) + word;
  EXPECT_EQ(text, "1a2b");
}

TEST(StreamMethods, NumberElementsThatCannotBeCopied) {
  const auto data = range(3).map([](std::int64_t x) { return std::make_unique<std::int64_t>(10 * x); }).enumerate();
  for (auto&& [number, value] : data) EXPECT_EQ(*value, 10 * number);
}

TEST(StreamMethods, CarryAStateAlong) {
  const auto data = range(1, 5).scan(0.5, [](double sum, std::int64_t x) {
    const double now = sum + static_cast<double>(x);
    return Scanned{now, std::to_string(static_cast<int>(now))};
  });
  EXPECT_THAT(elements_of(data), ElementsAre("1", "3", "6", "10"));
  EXPECT_THAT(elements_of(data.batch(4).repeat(2)),
              ElementsAre(ElementsAre("1", "3", "6", "10"), ElementsAre("1", "3", "6", "10")));
}

TEST(StreamMethods, MakeWindows) {
  EXPECT_THAT(elements_of(range(7).window(3, {.shift = 2})),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(2, 3, 4), ElementsAre(4, 5, 6), ElementsAre(6)));
  EXPECT_THAT(elements_of(range(7).window(2, {.stride = 3, .drop_remainder = true})),
              ElementsAre(ElementsAre(0, 3), ElementsAre(2, 5)));
}

TEST(StreamMethods, MakeWindowsThatAreTakenApartAgain) {
  EXPECT_THAT(elements_of(range(5).window(2).unbatch()), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(range(6).window(2, {.drop_remainder = true}).unbatch().cardinality(), 6);
}

TEST(StreamMethods, RefuseWindowsWhereTheyStand) {
  EXPECT_ERROR(range(5).window(0), ErrorCode::invalid_argument, "size must be at least 1, but is 0");
  EXPECT_ERROR(range(5).group_by_window(plus_one, 0), ErrorCode::invalid_argument, "size must be at least 1, but is 0");
}

TEST(StreamMethods, GroupByAKey) {
  const auto groups = range(6).group_by_window([](std::int64_t x) { return x % 2; }, 2);
  EXPECT_THAT(elements_of(groups), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4), ElementsAre(5)));
  const auto words = from_vector(std::vector<std::string>{"ab", "c", "de", "f"});
  EXPECT_THAT(elements_of(words.group_by_window([](const std::string& word) { return word.size(); }, 2)),
              ElementsAre(ElementsAre("ab", "de"), ElementsAre("c", "f")));
}

TEST(StreamMethods, TellWhoseFunctionThrew) {
  const auto fails_on_two = [](std::int64_t x) { return x == 2 ? throw Error(ErrorCode::data_loss, "torn") : x; };
  auto run = range(4).group_by_window(fails_on_two, 2).start();
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("group_by_window"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("torn"));
  }
  EXPECT_THAT(*run.next(), ElementsAre(0));
}

// What each element becomes, "x" where next() throws.
template <class T, class Print> std::string texts_of(const Dataset<T>& data, const Print& print) {
  std::string text;
  auto run = data.start({.serial = true});
  for (;;) {
    try {
      auto value = run.next();
      if (!value) return text;
      text += print(*value) + " ";
    } catch (const ElementError&) {
      text += "x ";
    }
  }
}

// Fails where its value is moved or copied into a list, for one of them, once.
struct Fragile {
  explicit Fragile(std::int64_t the_value) : value(the_value) {}
  Fragile(const Fragile& other) : value(other.value) { fail_if(copy_fails); }
  Fragile(Fragile&& other) : value(other.value) { fail_if(move_fails); }  // NOLINT: it is to be able to throw
  Fragile& operator=(const Fragile&) = default;
  void fail_if(bool& is_set) const {
    if (value == 4 && std::exchange(is_set, false)) throw std::bad_alloc();
  }
  std::int64_t value;
  static inline thread_local bool copy_fails = false, move_fails = false;
};
const auto fragile = range(9).map([](std::int64_t x) { return Fragile(x); });
std::string text_of(const std::vector<Fragile>& list) {
  std::string text = "[";
  for (const Fragile& one : list) text += std::to_string(one.value);
  return text + "]";
}

TEST(StreamMethods, LoseTheWindowAloneThatCannotBeMade) {
  Fragile::copy_fails = true;
  EXPECT_EQ(texts_of(fragile.window(3, {.shift = 2}), text_of), "[012] x [456] [678] [8] ");
}

TEST(StreamMethods, GiveNoGroupWithoutElements) {
  const auto key = [](const Fragile& one) { return Fragile::move_fails = one.value == 4, one.value; };
  EXPECT_EQ(texts_of(fragile.group_by_window(key, 2), text_of), "x [0] [1] [2] [3] [5] [6] [7] [8] ");
}

// Of 40 windows of up to 2.5 MiB each.
TEST(StreamMethods, MakeWindowsOfAPassesEndWhenTheyAreWanted) {
  constexpr std::int64_t kCount = 40, kBytes = 1 << 16;
  auto run = range(kCount)
                 .map([](std::int64_t) { return std::vector<char>(kBytes); })
                 .window(kCount, {.shift = 1})
                 .start({.threads = 1, .memory_bytes = 8 * MiB});
  std::int64_t windows = 0;
  while (run.next()) ++windows;
  EXPECT_EQ(windows, kCount);
  EXPECT_LT(run.stats().memory_peak, kCount * kCount / 2 * kBytes / 3);
}

TEST(StreamMethods, CutBatchesOfBoolsAnew) {
  const auto is_odd = [](std::int64_t x) { return x % 2 == 1; };
  EXPECT_THAT(elements_of(range(4).map(is_odd).batch(3).rebatch(2)),
              ElementsAre(std::vector{false, true}, std::vector{false, true}));
}

TEST(StreamMethods, ReduceWithOptions) {
  const auto tears = [](std::int64_t x) { return x == 2 ? throw Error(ErrorCode::data_loss, "torn") : x; };
  EXPECT_EQ(range(4).map(tears).reduce(std::int64_t{0}, std::plus<>(), {.on_error = {.skip_at_most = 1}}), 4);
}

TEST(StreamMethods, ReduceAnEpochToAValue) {
  EXPECT_EQ(range(1, 5).reduce(std::int64_t{0}, std::plus<>()), 10);
  EXPECT_EQ(from_vector(std::vector<std::string>{"a", "b"}).reduce(std::string("0"), std::plus<>()), "0ab");
  EXPECT_EQ(range(0).reduce(7, [](int state, std::int64_t) { return state + 1; }), 7);
  EXPECT_EQ(range(3)
                .map([](std::int64_t x) { return std::make_unique<std::int64_t>(x); })
                .reduce(std::int64_t{0}, [](std::int64_t sum, std::unique_ptr<std::int64_t> x) { return sum + *x; }),
            3);
}

TEST(StreamMethods, ReduceThrowsWhatNextThrows) {
  const auto tears = [](std::int64_t) -> std::int64_t { throw Error(ErrorCode::data_loss, "torn"); };
  EXPECT_ERROR(range(3).map(tears).reduce(std::int64_t{0}, std::plus<>()), ErrorCode::data_loss, "torn");
}

struct Unassignable {
  const std::int64_t number;
};

TEST(StreamMethods, CutBatchesOfWhatCannotBeAssigned) {
  const auto unassignable = [](std::int64_t x) { return Unassignable{x}; };
  std::vector<std::int64_t> numbers;
  for (const auto& batch : range(5).map(unassignable).batch(3).rebatch(2)) numbers.push_back(batch.back().number);
  EXPECT_THAT(numbers, ElementsAre(1, 3, 4));
}

}  // namespace
}  // namespace penstock
