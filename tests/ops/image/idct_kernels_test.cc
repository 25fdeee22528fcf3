// Each instruction set against libjpeg itself, with its SIMD and without, on both sides of the bound of idct_range.h.
#include "ops/image/idct_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ops/image/idct_range.h"
#include "tests/ops/image/kernels.h"
#include "tests/ops/image/libjpeg_oracle.h"
#include "tests/support/file_contents.h"
#include "tests/support/guarded_memory.h"
#include "tests/support/jpeg_coefficients.h"
#include "tests/support/shared_data.h"

namespace penstock::image {
namespace {

using testing::CoefficientBlock;
using testing::CoefficientPlane;
using testing::equal_steps;
using testing::GuardedMemory;
using testing::JpegCoefficients;
using testing::SamplePlane;

using BlockSamples = std::array<std::uint8_t, 64>;

IdctTable table_of(const QuantiserSteps& steps) {
  IdctTable table;
  EXPECT_TRUE(build(table, steps));
  return table;
}

void put(std::int16_t* group, std::size_t place, const CoefficientBlock& block) {
  for (std::size_t y = 0; y < 8; ++y) std::copy_n(block.begin() + 8 * y, 8, group + y * kGroupStride + 8 * place);
}

bool has_only_first(const CoefficientBlock& block) {
  return std::all_of(block.begin() + 1, block.end(), [](std::int16_t value) { return value == 0; });
}

// Coefficients at the end of guarded memory, aligned as they must be.
struct Groups {
  GuardedMemory<std::int16_t> values;
  std::vector<std::uint8_t> has_ac;

  explicit Groups(std::size_t count) : values(count * kGroupValues), has_ac(count, 1) {
    std::fill(values.values().begin(), values.values().end(), std::int16_t{0});
  }
  std::int16_t* at(std::size_t group) const { return values.data() + group * kGroupValues; }
};

struct Result {
  bool is_good = false;
  BlockSamples samples{};
};

// The block alone in a group, at one of its places.
Result transform_alone(Simd simd, const CoefficientBlock& block, const IdctTable& table, std::size_t place) {
  static const Groups groups(1);
  std::uint8_t has_ac = has_only_first(block) ? 0 : 1;
  std::array<std::uint8_t, 256> samples{};
  put(groups.at(0), place, block);
  Result result;
  result.is_good = idct_kernels(simd).transform(groups.at(0), &has_ac, 1, table, samples.data(), 32);
  for (std::size_t i = 0; i < 64; ++i) result.samples[i] = samples[i / 8 * 32 + 8 * place + i % 8];
  return result;
}

// ------------------------------------------------------------------------------------------------
// Blocks beside what libjpeg makes of them.

struct Blocks {
  QuantiserSteps steps;
  std::vector<CoefficientBlock> blocks;
};

// All blocks as one grey picture without differences.
std::vector<BlockSamples> libjpeg_samples(const Blocks& blocks) {
  const int count = static_cast<int>(blocks.blocks.size());
  const JpegCoefficients picture{.width = 8,
                                 .height = 8 * count,
                                 .restart_interval = 1,
                                 .planes = {{.steps = blocks.steps, .blocks = blocks.blocks}}};
  const SamplePlane plane = testing::libjpeg_planes(testing::encode(picture)).at(0);
  std::vector<BlockSamples> all(blocks.blocks.size());
  for (std::size_t i = 0; i < all.size(); ++i) std::copy_n(plane.samples.data() + 64 * i, 64, all[i].begin());
  return all;
}

bool is_within_range(const CoefficientBlock& block, const IdctTable& table) {
  std::vector<std::int16_t> group(kGroupValues);
  put(group.data(), 0, block);
  return image::is_within_range(group.data(), table.steps);
}

// What is within the bound is as libjpeg has it; what is not is refused. Returns how many are within it.
std::size_t compare_with_libjpeg(const Blocks& blocks) {
  const IdctTable table = table_of(blocks.steps);
  const std::vector<BlockSamples> expected = libjpeg_samples(blocks);
  std::size_t good = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool is_good = is_within_range(blocks.blocks[i], table);
    good += is_good;
    for (const Simd simd : supported_simd()) {
      const Result got = transform_alone(simd, blocks.blocks[i], table, i % kBlocksInGroup);
      EXPECT_EQ(got.is_good, is_good) << to_string(simd) << ' ' << i;
      EXPECT_TRUE(!is_good || got.samples == expected[i]) << to_string(simd) << ' ' << i;
    }
  }
  return good;
}

// ------------------------------------------------------------------------------------------------
// Kinds of blocks

using Twister = std::mt19937;

int drawn(Twister& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

QuantiserSteps drawn_steps(Twister& random, int most) {
  QuantiserSteps steps;
  for (std::uint16_t& step : steps) step = static_cast<std::uint16_t>(drawn(random, 1, most));
  return steps;
}

// `count` coefficients of at most `most`.
CoefficientBlock drawn_block(Twister& random, int count, int most) {
  CoefficientBlock block{};
  for (int i = 0; i < count; ++i)
    block[static_cast<std::size_t>(drawn(random, 0, 63))] = static_cast<std::int16_t>(drawn(random, -most, most));
  return block;
}

// From a few small coefficients to 64 of the largest.
Blocks drawn_blocks(Twister& random, int largest_step) {
  Blocks blocks{.steps = drawn_steps(random, largest_step), .blocks = {}};
  for (int i = 0; i < 200; ++i) {
    const int most = std::min(32767, std::max(1, (1 << drawn(random, 1, 16)) / largest_step * 2));
    blocks.blocks.push_back(drawn_block(random, 1 << drawn(random, 0, 7), most));
  }
  return blocks;
}

CoefficientBlock scaled(const CoefficientBlock& block, int factor, int divisor) {
  CoefficientBlock out;
  for (std::size_t i = 0; i < 64; ++i) out[i] = static_cast<std::int16_t>(block[i] * factor / divisor);
  return out;
}

// The largest factor of at most 4096 / 4096 at which a block is within the bound; it is there at 0.
int largest_factor(const CoefficientBlock& block, const IdctTable& table) {
  int good = 0, bad = 4097;
  while (bad - good > 1) {
    const int middle = (good + bad) / 2;
    (is_within_range(scaled(block, middle, 4096), table) ? good : bad) = middle;
  }
  return good;
}

// Of each, the last one that is within the bound, and the next one.
Blocks at_the_bound(const QuantiserSteps& steps, const std::vector<CoefficientBlock>& directions) {
  const IdctTable table = table_of(steps);
  Blocks blocks{.steps = steps, .blocks = {}};
  for (const CoefficientBlock& direction : directions) {
    const int factor = largest_factor(direction, table);
    blocks.blocks.push_back(scaled(direction, factor, 4096));
    if (factor < 4096) blocks.blocks.push_back(scaled(direction, factor + 1, 4096));
  }
  return blocks;
}

// One coefficient at each place, in both directions.
Blocks single_coefficients_at_the_bound(std::uint16_t step) {
  const IdctTable table = table_of(equal_steps(step));
  Blocks blocks{.steps = equal_steps(step), .blocks = {}};
  for (std::size_t place = 0; place < 64; ++place)
    for (const int sign : {1, -1}) {
      CoefficientBlock block{}, next{};
      for (int value = 1; value <= 32767; ++value) {
        next[place] = static_cast<std::int16_t>(sign * value);
        if (!is_within_range(next, table)) break;
        block = next;
      }
      blocks.blocks.push_back(block);
      blocks.blocks.push_back(next);
    }
  return blocks;
}

// ------------------------------------------------------------------------------------------------
// With libjpeg's SIMD, and once more in a process without it.

void random_coefficients_are_as_libjpeg_has_them() {
  Twister random(1);
  std::size_t good = 0, all = 0;
  for (const int largest_step : {1, 2, 16, 99, 255, 256, 4000, 32767})
    for (int i = 0; i < 4; ++i) {
      const Blocks blocks = drawn_blocks(random, largest_step);
      good += compare_with_libjpeg(blocks);
      all += blocks.blocks.size();
    }
  EXPECT_GT(good, all / 10);
  EXPECT_LT(good, all * 9 / 10);
}

void both_sides_of_the_bound_are_as_libjpeg_has_them() {
  for (const int step : {1, 2, 7, 255, 1000, 2126, 2127, 4091, 4100, 32767}) {
    const Blocks blocks = single_coefficients_at_the_bound(static_cast<std::uint16_t>(step));
    EXPECT_EQ(compare_with_libjpeg(blocks), blocks.blocks.size() / 2) << step;
  }
  Twister random(2);
  for (const int largest_step : {1, 3, 20, 300}) {
    std::vector<CoefficientBlock> directions;
    for (int i = 0; i < 200; ++i) directions.push_back(drawn_block(random, 1 << drawn(random, 0, 6), 32767));
    compare_with_libjpeg(at_the_bound(drawn_steps(random, largest_step), directions));
  }
}

// The last first coefficients within the bound, and the next ones: 511.5 and -512.6 before 128 is added. So SIMD is off
// indeed.
void white_turns_black_beyond_the_bound() {
  const Blocks blocks{.steps = equal_steps(1), .blocks = {{4091}, {4092}, {-4100}, {-4101}}};
  const std::vector<BlockSamples> samples = libjpeg_samples(blocks);
  EXPECT_EQ(samples[0][0], 255);
  EXPECT_EQ(samples[1][0], 0);
  EXPECT_EQ(samples[2][0], 0);
  EXPECT_EQ(samples[3][0], 255);
}

TEST(IdctKernels, RandomCoefficientsAreAsLibjpegHasThem) { random_coefficients_are_as_libjpeg_has_them(); }

TEST(IdctKernels, BothSidesOfTheBoundAreAsLibjpegHasThem) { both_sides_of_the_bound_are_as_libjpeg_has_them(); }

[[noreturn]] void compare_all_without_simd() {
  ::setenv("JSIMD_FORCENONE", "1", 1);  // before libjpeg asks
  white_turns_black_beyond_the_bound();
  random_coefficients_are_as_libjpeg_has_them();
  both_sides_of_the_bound_are_as_libjpeg_has_them();
  std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
}

TEST(IdctKernelsDeathTest, AllThisHoldsForLibjpegWithoutItsSimdToo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, not a copy of this one
  EXPECT_EXIT(compare_all_without_simd(), ::testing::ExitedWithCode(0), "");
}

// ------------------------------------------------------------------------------------------------

TEST(IdctKernels, StepsOfNothingAndAboveAllCoefficientsAreNotTaken) {
  IdctTable table;
  QuantiserSteps steps = equal_steps(32767);
  EXPECT_TRUE(build(table, steps));
  steps[63] = 32768;
  EXPECT_FALSE(build(table, steps));
  steps[63] = 0;
  EXPECT_FALSE(build(table, steps));
}

// Two columns have kQuickLimit together, as one large coefficient or in parts; so have the others, or they are empty.
CoefficientBlock block_at_quick_limit(Twister& random, int number) {
  CoefficientBlock block{};
  for (std::size_t x = 0; x < 8; x += 2) {
    if (x > 0 && number % 4 < 2) break;
    for (int left = kQuickLimit; left > 0;) {
      const int size = number % 2 == 0 ? left : drawn(random, 1, left);
      std::int16_t& value =
          block[static_cast<std::size_t>(8 * drawn(random, 0, 7)) + x + static_cast<std::size_t>(drawn(random, 0, 1))];
      value = static_cast<std::int16_t>(value + (drawn(random, 0, 1) == 0 ? size : -size));
      left -= size;
    }
  }
  return block;
}

class IdctKernelsTest : public ::testing::TestWithParam<Simd> {
 protected:
  const IdctKernels& kernels() const { return idct_kernels(GetParam()); }
};

void fill_groups(Groups& groups, Twister& random, int kind) {
  for (std::size_t i = 0; i < groups.has_ac.size(); ++i) {
    const bool is_flat = drawn(random, 0, 2) == 0;
    groups.has_ac[i] = is_flat ? 0 : 1;
    for (std::size_t j = 0; j < kBlocksInGroup; ++j)
      put(groups.at(i), j,
          is_flat ? CoefficientBlock{static_cast<std::int16_t>(drawn(random, -1100, 1100) << kind)}
                  : drawn_block(random, 20, 100 << kind));
  }
}

// Samples lie in rows with gaps, at any address; the last row ends where the memory does.
TEST_P(IdctKernelsTest, GroupsAreAsTheScalarOnesAndNothingElseIsTouched) {
  Twister random(4);
  int good = 0;
  for (int i = 0; i < 300; ++i) {
    const auto count = static_cast<std::size_t>(drawn(random, 0, 5));
    const std::size_t stride = count * 32 + static_cast<std::size_t>(drawn(random, 0, 70));
    Groups groups(count), scalar(count);
    fill_groups(groups, random, i % 4);
    std::ranges::copy(groups.values.values(), scalar.values.data());
    scalar.has_ac = groups.has_ac;
    const std::size_t bytes = count == 0 ? 0 : 7 * stride + count * 32;
    const GuardedMemory<std::uint8_t> samples(bytes, i % 2 == 0 ? testing::Guard::behind : testing::Guard::before);
    std::ranges::fill(samples.values(), std::uint8_t{77});
    std::vector<std::uint8_t> expected(bytes, 77);
    const IdctTable table = table_of(drawn_steps(random, 6));
    const bool is_good =
        kernels().transform(groups.values.data(), groups.has_ac.data(), count, table, samples.data(), stride);
    ASSERT_EQ(is_good,
              kScalarIdct.transform(scalar.values.data(), scalar.has_ac.data(), count, table, expected.data(), stride));
    for (const std::int16_t value : groups.values.values()) ASSERT_EQ(value, 0);
    for (const std::uint8_t flag : groups.has_ac) ASSERT_EQ(flag, 0);
    good += is_good;
    ASSERT_TRUE(!is_good || std::ranges::equal(samples.values(), expected)) << i;
  }
  EXPECT_GT(good, 30);
}

// Steps and coefficients of powers of two: sums of 32 bits often come back to where small ones lie.
TEST_P(IdctKernelsTest, SumsThatWrapAroundAreNotTaken) {
  CoefficientBlock wrapping{};
  wrapping[32] = 4096;  // rows of 2^19, hence sums of 2^32
  EXPECT_FALSE(transform_alone(GetParam(), wrapping, table_of(equal_steps(32)), 0).is_good);
  Twister random(6);
  const auto power = [&random](int most) { return 1 << drawn(random, 0, most); };
  int within = 0;
  for (int i = 0; i < 400; ++i) {
    QuantiserSteps steps;
    for (std::uint16_t& step : steps) step = static_cast<std::uint16_t>(power(14));
    const IdctTable table = table_of(steps);
    for (int k = 0; k < 50; ++k) {
      CoefficientBlock block{};
      for (int count = drawn(random, 1, 6); count > 0; --count)
        block[static_cast<std::size_t>(drawn(random, 0, 63))] =
            static_cast<std::int16_t>(power(14) * (drawn(random, 0, 1) == 0 ? 1 : -1));
      const bool is_good = transform_alone(GetParam(), block, table, 1).is_good;
      ASSERT_EQ(is_good, is_within_range(block, table)) << i;
      within += is_good ? 1 : 0;
    }
  }
  EXPECT_GT(within, 200);
}

// Blocks of which each two neighbouring columns sum up to it, however they lie: none is transformed wrongly. What the
// quick test cannot know of them, whether their samples are in range, must be found out.
TEST_P(IdctKernelsTest, QuickLimitIsEnough) {
  const IdctTable table = table_of(equal_steps(1));
  Twister random(3);
  int within = 0;
  for (int i = 0; i < 20000; ++i) {
    const CoefficientBlock block = block_at_quick_limit(random, i);
    const bool is_good = transform_alone(GetParam(), block, table, 2).is_good;
    ASSERT_EQ(is_good, is_within_range(block, table)) << i;
    within += is_good ? 1 : 0;
  }
  EXPECT_GT(within, 1000);
  EXPECT_LT(within, 19000);
}

// A flag without its coefficients is slower and the same.
TEST_P(IdctKernelsTest, FlagDecidesNothing) {
  const IdctTable table = table_of(equal_steps(3));
  for (int value = -1400; value <= 1400; ++value) {
    const CoefficientBlock block{static_cast<std::int16_t>(value)};
    const Result flat = transform_alone(GetParam(), block, table, 1);
    Groups groups(1);
    put(groups.at(0), 1, block);
    std::array<std::uint8_t, 256> samples{};
    ASSERT_EQ(kernels().transform(groups.at(0), groups.has_ac.data(), 1, table, samples.data(), 32), flat.is_good)
        << value;
    ASSERT_TRUE(!flat.is_good || samples[8] == flat.samples[0]) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, IdctKernelsTest, ::testing::ValuesIn(supported_simd()), name_of);

// ------------------------------------------------------------------------------------------------
// Real files

// Block (x, y) of a plane; behind the last one of a row, nothing.
CoefficientBlock block_of(const CoefficientPlane& plane, std::size_t across, std::size_t x, std::size_t y) {
  return x < across ? plane.blocks[y * across + x] : CoefficientBlock{};
}

std::vector<std::uint8_t> transformed_row(Simd simd, const CoefficientPlane& plane, std::size_t across, std::size_t y) {
  const std::size_t count = (across + kBlocksInGroup - 1) / kBlocksInGroup;
  Groups groups(count);
  for (std::size_t i = 0; i < count * kBlocksInGroup; ++i)
    put(groups.at(i / kBlocksInGroup), i % kBlocksInGroup, block_of(plane, across, i, y));
  std::vector<std::uint8_t> samples(8 * 32 * count);
  const IdctTable table = table_of(plane.steps);
  EXPECT_TRUE(idct_kernels(simd).transform(groups.values.data(), groups.has_ac.data(), count, table, samples.data(),
                                           32 * count));
  return samples;
}

void expect_plane(Simd simd, const CoefficientPlane& plane, const SamplePlane& expected) {
  const std::size_t across = expected.width / 8, used = (expected.used_width + 7) / 8 * 8;
  for (std::size_t y = 0; y < (expected.used_height + 7) / 8; ++y) {
    const std::vector<std::uint8_t> samples = transformed_row(simd, plane, across, y);
    for (std::size_t line = 0; line < 8; ++line)
      ASSERT_TRUE(std::ranges::equal(std::span(samples).subspan(line * samples.size() / 8, used),
                                     std::span(expected.samples).subspan((8 * y + line) * expected.width, used)));
  }
}

TEST(IdctKernels, RealFilesAreAllWithinTheBoundAndAsLibjpegHasThem) {
  PENSTOCK_NEEDS_SHARED("data/imagenet");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::shared_folder() / "data/imagenet")) {
    const std::string contents = test::file_contents(entry.path());
    const auto file = std::as_bytes(std::span(contents));
    const JpegCoefficients picture = testing::coefficients_of(file);
    const std::vector<SamplePlane> planes = testing::libjpeg_planes(file);
    const std::vector<Simd> all = supported_simd();
    for (std::size_t i = 0; i < planes.size(); ++i) expect_plane(all[files % all.size()], picture.planes[i], planes[i]);
    ASSERT_FALSE(::testing::Test::HasFailure()) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 100U);
}

}  // namespace
}  // namespace penstock::image
