// Random trees with datasets that functions make of elements (interleave): in branches, behind merges, and one inside
// the other. What plain lists say, however many calls there are, and whatever is moved meanwhile.
//
//   PENSTOCK_FULL=1 random_nests_test          ten times as many
//   PENSTOCK_SEED=17 random_nests_test         this one alone
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/random/tree_runs.h"

namespace trees {
namespace {

constexpr Drawn kNested{.nests = true};

TEST(RandomNests, GiveSeriallyAndOnThreadsWhatPlainListsSay) {
  Drawer::Coverage coverage;
  random_graphs::Coverage moved;
  check_trees(
      how_many(400),
      [&moved](const Tree& tree, std::uint64_t seed) {
        Random random(seed ^ 0x4E57);
        check_run(tree, {.serial = true}, random);
        check_run(tree, {.threads = 2, .tune = false}, random);
        check_run(tree, {.threads = 3, .tune = random.one_in(2)}, random, &moved);
        check_run(tree, {.memory_bytes = static_cast<std::size_t>(random.between(100, 4000)), .tune = random.one_in(2)},
                  random, &moved);
      },
      coverage, kNested);
  EXPECT_GE(moved.moves(), how_many(400));
}

TEST(RandomNests, GiveInAnyOrderOfEventsWhatPlainListsSay) {
  if (UNDER_THREAD_SANITIZER) GTEST_SKIP() << "there is one thread: nothing that ThreadSanitizer could see";
  Drawer::Coverage coverage;
  random_graphs::Coverage moved;
  check_pumped(how_many_pumped(2'000), coverage, moved, kNested);
  if (number_from_environment("PENSTOCK_SEED")) return;
  EXPECT_GE(moved.moves(), how_many_pumped(500)) << "of knobs";
  if (UNDER_SANITIZER && is_smallest()) return;  // too few to say how often something is met
  EXPECT_GE(coverage["nest in 1"], how_many_pumped(2'000)) << "one inside the other";
  for (const std::string before : {"range", "prefetch", "map", "fail", "filter", "take", "skip", "repeat", "batch",
                                   "zip", "concatenate", "sample", "choose", "interleave"})
    EXPECT_GE(coverage[before + ">interleave"], how_many_pumped(400)) << "behind " << before;
  for (const std::string op : {"map", "fail", "filter", "take", "skip", "repeat", "repeat(n)", "batch", "zip",
                               "concatenate", "sample", "choose"})
    EXPECT_GE(coverage["interleave>" + op], how_many_pumped(100)) << op << " behind it";
}

}  // namespace
}  // namespace trees
