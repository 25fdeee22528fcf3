// What is inside of interleave: datasets of all ops give what they give in runs of their own.
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// Without a text that it shares with its copies: ThreadSanitizer does not see into the C++ library, which counts them.
struct TooLate : std::exception {
  const char* what() const noexcept override { return "too late"; }
};

class Later final : public ElementwiseOp {
 public:
  std::string name() const override { return "later"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  void start(Element value, Context&, Completion completion) const override {
    if (value.get<std::int64_t>() % 7 == 6) throw std::runtime_error("not begun");
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([value = std::move(value), completion = std::move(completion)]() mutable {
      const auto x = value.take<std::int64_t>();
      if (x % 5 == 4) return completion.fail(std::make_exception_ptr(TooLate()));
      completion.complete(Element(x + 1));
    });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::jthread> threads_;
};

using Made = std::function<Dataset<std::string>(std::int64_t)>;

std::map<std::string, Made> pipelines() {
  const auto texts = [](const auto& dataset) { return dataset.map([](const auto& x) { return text_of(x); }); };
  const auto odd = [](std::int64_t x) { return x % 2 == 1; };
  const auto fails = [](std::int64_t x) { return x % 3 == 2 ? throw std::runtime_error("drawn") : x; };
  const auto number = [](std::int64_t x) { return x; };
  return {
      {"positions", [=](std::int64_t x) { return texts(range(20).shard(2, 1).shuffle(20, {.seed = 7}).skip(x)); }},
      {"shuffle", [=](std::int64_t x) { return texts(range(20 + x).map(number).shuffle(5, {.seed = 7})); }},
      {"filter", [=](std::int64_t x) { return texts(range(x, 30).filter(odd)); }},
      {"errors", [=](std::int64_t x) { return texts(range(x, 30).map(fails).skip(2)); }},
      {"ignore_errors", [=](std::int64_t x) { return texts(range(x, 30).map(fails).ignore_errors()); }},
      {"batch", [=](std::int64_t x) { return texts(range(x + 7).map(number).batch(3).unbatch()); }},
      {"window", [=](std::int64_t x) { return texts(range(x + 7).window(3, {.shift = 2})); }},
      {"flat_map",
       [=](std::int64_t x) {
         return texts(range(5).flat_map(
             [x](std::int64_t y) { return std::vector<std::int64_t>(static_cast<std::size_t>(y), x); }));
       }},
      {"flat_map to a dataset",
       [=](std::int64_t x) { return texts(range(5).flat_map([x](std::int64_t y) { return range(x, x + y); })); }},
      {"state",
       [=](std::int64_t x) {
         return texts(range(x + 5).map([n = 0](std::int64_t y) mutable { return 10 * y + n++; }, 1).repeat(2));
       }},
      {"later", [=](std::int64_t x) { return texts(range(x + 12).then<std::int64_t>(std::make_shared<Later>())); }},
      {"repeats",
       [=](std::int64_t x) { return texts(range(x + 2).shuffle(9, {.seed = 1}).repeat(2).take(5).repeat(3)); }},
      {"endless", [=](std::int64_t x) { return texts(range(x).repeat().map(fails).take(9)); }},
      {"nothing", [=](std::int64_t x) { return texts(range(x).take(0).repeat(3)); }},
      {"repeat(0)", [=](std::int64_t x) { return texts(range(x).map(number).repeat(0)); }},
      {"zip",
       [=](std::int64_t x) {
         return texts(zip(range(x + 4).map(fails), range(9).map(number)).map([](std::int64_t a, std::int64_t b) {
           return 100 * a + b;
         }));
       }},
      {"zip of positions",
       [=](std::int64_t x) {
         return texts(zip(range(x + 4), range(9)).map([](std::int64_t a, std::int64_t b) { return 100 * a + b; }));
       }},
      {"sample",
       [=](std::int64_t x) {
         return texts(
             sample_from(std::vector{range(x + 4).map(number).repeat(2), range(50, 60).map(fails)}, {.seed = 3}));
       }},
      {"concatenate", [=](std::int64_t x) { return texts(range(x).map(fails).concatenate(range(3)).repeat(2)); }},
      {"choose",
       [=](std::int64_t x) {
         return texts(
             choose_from(std::vector{range(x), range(50, 54)}, range(12).map([](std::int64_t i) { return i % 3; })));
       }},
      {"take_while",
       [=](std::int64_t x) { return texts(range(x, 20).take_while([](std::int64_t y) { return y < 6; })); }},
      {"scan",
       [=](std::int64_t x) {
         return texts(range(x + 5).scan(std::int64_t{0}, [](std::int64_t s, std::int64_t y) {
           return Scanned{s + y, s + y};
         }));
       }},
      {"generator",
       [=](std::int64_t x) {
         return texts(from_generator([x](Pass) {
                        return [i = x]() mutable { return i < 6 ? std::optional(i++) : std::nullopt; };
                      }).repeat(2));
       }},
      {"prefetch", [=](std::int64_t x) { return texts(range(x, 9).prefetch(3).map(number).prefetch()); }},
      {"interleave",
       [=](std::int64_t x) {
         return texts(range(x + 3).interleave([](std::int64_t y) { return range(10 * y, 11 * y); },
                                              {.cycle_length = 2, .block_length = 2}));
       }},
      {"interleave with errors",
       [=](std::int64_t x) {
         return texts(range(x + 6).map(fails).interleave(
             [=](std::int64_t y) { return y == 3 ? throw std::runtime_error("three") : range(y).map(fails); },
             {.cycle_length = 3}));
       }},
  };
}

// What a run of its own gives of each dataset, one after the other. Of errors only that there is one: places differ.
TEST(InterleaveInside, ReadsDatasetsAsRunsOfTheirOwnDo) {
  const auto without_places = [](Texts texts) {
    for (std::string& text : texts) text = text.substr(0, text.front() == 'x' ? 1 : text.size());
    return texts;
  };
  for (const auto& [name, make] : pipelines()) {
    Texts expected;
    for (std::int64_t x = 0; x < 6; ++x) {
      const Texts one = without_places(read(make(x), {.serial = true}));
      expected.insert(expected.end(), one.begin(), one.end());
    }
    const auto dataset = range(6).interleave(make, {.cycle_length = 1});
    EXPECT_EQ(text_of(without_places(read(dataset))), text_of(expected)) << name;
    EXPECT_EQ(text_of(without_places(read(dataset, {.serial = true}))), text_of(expected)) << name << ", serially";
  }
}

TEST(InterleaveInside, ShufflesAnewInsideInEachPass) {
  auto run = range(1).interleave([](std::int64_t) { return range(40).shuffle(40, {.seed = 3}); }).repeat(2).start();
  const Texts given = rest_of(run);
  ASSERT_EQ(given.size(), 80u);
  EXPECT_FALSE(std::equal(given.begin(), given.begin() + 40, given.begin() + 40));
}

TEST(InterleaveInside, DrawsOtherNumbersInEachDatasetAndTheSameInEachRun) {
  const auto drawn = [](std::int64_t) {
    return range(8).map([](std::int64_t, Context& context) { return static_cast<std::int64_t>(context.rng()()); });
  };
  const auto behind = range(8).interleave(drawn).map(
      [](std::int64_t x, Context& context) { return std::to_string(x) + " " + std::to_string(context.rng()()); });
  const Texts given = read(behind);
  EXPECT_EQ(given, read(behind, {.serial = true}));
  std::set<std::string> inside, outside;
  for (const std::string& both : given) {
    inside.insert(both.substr(0, both.find(' ')));
    outside.insert(both.substr(both.find(' ')));
  }
  EXPECT_EQ(inside.size(), 64u);
  EXPECT_EQ(outside.size(), 64u);
}

TEST(InterleaveInside, TellsWhereInADatasetAnErrorIs) {
  const auto rows = [](std::int64_t) {
    return range(3).map([](std::int64_t y) { return y == 1 ? throw std::runtime_error("broken") : y; },
                        {.name = "check"});
  };
  auto run = range(5, 7).interleave(rows, {.cycle_length = 1, .name = "rows"}).start();
  EXPECT_EQ(next_text(run), "0");
  try {
    run.next();
    FAIL() << "must throw";
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().op, "interleave 'rows'");
    EXPECT_EQ(error.place().position, 1);
    EXPECT_EQ(error.place().ordinal, 0);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("map 'check' (op 1 at interleave_inside_test.cc"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("failed at element 1"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("broken"));
  }
}

}  // namespace
}  // namespace penstock
