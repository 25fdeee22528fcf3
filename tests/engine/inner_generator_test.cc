// interleave and flat_map whose function gives a generator.
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// x - 1 down to 0.
const auto countdown = [](std::int64_t x) {
  return [x]() mutable { return x > 0 ? std::optional(--x) : std::nullopt; };
};

TEST(InnerGenerator, IsReadAsADatasetIs) {
  for (const bool serial : {false, true}) {
    const RunOptions options{.serial = serial};
    EXPECT_EQ(text_of(read(range(4).interleave(countdown, {.cycle_length = 3}), options)), "[0 1 2 0 1 0]");
    EXPECT_EQ(text_of(read(range(4).flat_map(countdown), options)), "[0 1 0 2 1 0]");
    EXPECT_EQ(text_of(read(range(3).flat_map(countdown).repeat(2), options)), "[0 1 0 0 1 0]");
  }
}

TEST(InnerGenerator, MayBeMoveOnly) {
  const auto one = [](std::int64_t x) {
    return [value = std::make_unique<std::int64_t>(x)]() mutable -> std::optional<std::int64_t> {
      if (!value) return std::nullopt;
      return *std::exchange(value, nullptr);
    };
  };
  EXPECT_EQ(read(range(5).interleave(one)), numbers(0, 5));
  EXPECT_EQ(read(range(5).flat_map(one)), numbers(0, 5));
}

TEST(InnerGenerator, MayGiveWhatCannotBeCopied) {
  const auto one = [](std::int64_t x) {
    return [x, is_new = true]() mutable -> std::optional<std::unique_ptr<std::int64_t>> {
      if (!std::exchange(is_new, false)) return std::nullopt;
      return std::make_unique<std::int64_t>(x);
    };
  };
  const auto value = [](std::unique_ptr<std::int64_t> pointer) { return *pointer; };
  EXPECT_EQ(read(range(5).interleave(one).map(value)), numbers(0, 5));
}

TEST(InnerGenerator, MayTakeAContext) {
  const auto draws = [](std::int64_t) {
    return [left = 3](Context& context) mutable -> std::optional<std::int64_t> {
      if (left-- == 0) return std::nullopt;
      return static_cast<std::int64_t>(context.rng()());
    };
  };
  for (const bool serial : {false, true}) {
    const Texts all = read(range(20).interleave(draws), {.serial = serial});
    EXPECT_EQ(all.size(), 60u);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 60u) << "other numbers for each element";
  }
}

TEST(InnerGenerator, HasItsErrorsInTheirPlaces) {
  const auto fails_at_one = [](std::int64_t x) {
    return [x, i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
      if (i == 3) return std::nullopt;
      if (i++ == 1) throw std::runtime_error("one");
      return 10 * x + i;
    };
  };
  EXPECT_EQ(text_of(read(range(2).flat_map(fails_at_one))), "[1 x0 3 11 x1 13]");
  auto run = range(2).flat_map(fails_at_one).skip(1).start();
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("generator (op 0) failed at element 1"));
  }
}

}  // namespace
}  // namespace penstock
