#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

// An IndexedSource, as op.h has it.
class Squares final : public IndexedSource {
 public:
  explicit Squares(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  Element at(std::int64_t i) const override {
    if (i == 3) throw Error(ErrorCode::data_loss, "torn");
    return Element(i * i);
  }
  std::string origin(std::int64_t i) const override { return "square " + std::to_string(i); }

 private:
  std::int64_t size_;
};

// Any type with size() and at().
struct Letters {
  std::string text;
  std::size_t size() const { return text.size(); }
  char at(std::int64_t i) const { return text[static_cast<std::size_t>(i)]; }
};

template <class T> std::vector<T> all_good(const Dataset<T>& data) {
  auto run = data.start({.on_error = skip_all()});
  std::vector<T> values;
  while (auto value = run.next()) values.push_back(*value);
  return values;
}

TEST(FromIndexed, GivesWhatTheSourceHas) {
  const auto data = from_indexed<std::int64_t>(std::make_shared<Squares>(3));
  EXPECT_EQ(all_good(data), (std::vector<std::int64_t>{0, 1, 4}));
  EXPECT_EQ(data.cardinality(), 3);
}

TEST(FromIndexed, IsShuffledAndShardedByPosition) {
  const auto data = from_indexed<std::int64_t>(std::make_shared<Squares>(3)).shuffle(10, {.seed = 7});
  auto values = all_good(data);
  std::ranges::sort(values);
  EXPECT_EQ(values, (std::vector<std::int64_t>{0, 1, 4}));
  auto run = data.start();
  run.next();
  EXPECT_EQ(run.snapshot().stages.size(), 1u);
}

TEST(FromIndexed, NamesItselfAndItsItemsInErrors) {
  auto run = from_indexed<std::int64_t>(std::make_shared<Squares>(5), "squares").skip(3).start();
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 14), "squares (op 0 ") << error.what();
    EXPECT_EQ(error.place().origin, "square 3");
  }
  EXPECT_EQ(run.next(), 16);
}

TEST(FromIndexed, TakesAnythingWithSizeAndAt) {
  const Dataset<char> data = from_indexed(Letters{"tea"}, "letters");
  EXPECT_EQ(all_good(data), (std::vector<char>{'t', 'e', 'a'}));
  EXPECT_EQ(describe(data).substr(0, 22), "0  letters  3 elements");
}

TEST(FromIndexed, TellsOfAnotherTypeThanItsElements) {
  auto run = from_indexed<double>(std::make_shared<Squares>(2)).start();
  EXPECT_ERROR(run.next(), ErrorCode::invalid_argument,
               "gave an element of type long, but the dataset behind it has elements of type double");
}

TEST(FromIndexed, RefusesANullPointer) {
  EXPECT_ERROR(from_indexed<double>(nullptr), ErrorCode::invalid_argument, "the source is a null pointer");
}

TEST(FromIndexed, RefusesASizeBelowZero) {
  for (const std::int64_t size : {-1, -2, -5}) {  // of a cardinality, the first two would mean "endless" and "unknown"
    EXPECT_ERROR(from_indexed<std::int64_t>(std::make_shared<Squares>(size)), ErrorCode::invalid_argument,
                 "size() must be at least 0, but is " + std::to_string(size));
  }
}

}  // namespace
}  // namespace penstock
