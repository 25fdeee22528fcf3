// Random trees of datasets: what plain lists say, serially, on threads, and pumped by one thread in any order of
// events, with and without memory, while knobs are moved, in several epochs, some of them left early.
//
//   PENSTOCK_FULL=1 random_trees_test          200,000 trees instead of 20,000 pumped, 10,000 on threads
//   PENSTOCK_SEED=17 random_trees_test         this tree alone
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "tests/random/tree_runs.h"

namespace trees {
namespace {

TEST(RandomTrees, GiveSeriallyAndOnThreadsWhatPlainListsSay) {
  Drawer::Coverage coverage;
  random_graphs::Coverage moved;
  check_trees(
      how_many(1000),
      [&moved](const Tree& tree, std::uint64_t seed) {
        Random random(seed ^ 0x7EE5);
        check_run(tree, {.serial = true}, random);
        check_run(tree, {.threads = 2, .tune = false}, random);
        check_run(tree, {.memory_bytes = static_cast<std::size_t>(random.between(100, 2000)), .tune = random.one_in(2)},
                  random, &moved);
      },
      coverage);
  EXPECT_GE(moved.moves(), how_many(1000));
}

const std::vector<std::string> kOps{"map",   "fail", "filter",      "take",   "skip",   "repeat", "repeat(n)",
                                    "batch", "zip",  "concatenate", "sample", "choose", "cache"};
const std::vector<std::string> kBefore{"range",  "prefetch", "map", "fail",        "filter", "take",   "skip",
                                       "repeat", "batch",    "zip", "concatenate", "sample", "choose", "cache"};

// Each op, behind each other one, and merges of merges of merges.
void expect_all_were_drawn(Drawer::Coverage& coverage) {
  for (const std::string& op : kOps) {
    EXPECT_GE(coverage[op], how_many_pumped(5'000)) << op;
    for (const std::string& before : kBefore)
      EXPECT_GE(coverage[before + ">" + op], how_many_pumped(200)) << op << " behind " << before;
  }
  EXPECT_GE(coverage["depth 3"], how_many_pumped(10'000));
}

TEST(RandomTrees, GiveInAnyOrderOfEventsWhatPlainListsSay) {
  if (UNDER_THREAD_SANITIZER) GTEST_SKIP() << "there is one thread: nothing that ThreadSanitizer could see";
  Drawer::Coverage coverage;
  random_graphs::Coverage moved;
  check_pumped(how_many_pumped(20'000), coverage, moved);
  if (number_from_environment("PENSTOCK_SEED")) return;
  EXPECT_GE(moved.moves(), how_many_pumped(5'000)) << "of knobs";
  if (UNDER_SANITIZER && is_smallest()) return;  // too few to say how often something is met
  expect_all_were_drawn(coverage);
  for (const auto& [what, count] : coverage) std::cout << what << ' ' << count << '\n';
}

}  // namespace
}  // namespace trees
