// Random trees whose functions and sources fail in all ways: errors come in their places, are skipped and counted, and
// a run that is resumed at any place, again and again, goes on with what was to come.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "tests/random/tree_series.h"

namespace trees {
namespace {

ps::RunOptions drawn_options(Random& random) {
  if (random.one_in(4)) return {.serial = true};
  ps::RunOptions options{.threads = static_cast<int>(random.between(1, 2)), .tune = random.one_in(2)};
  if (random.one_in(2)) options.memory_bytes = static_cast<std::size_t>(random.between(100, 2000));
  return options;
}

std::int64_t failures_in(const Tree& tree) { return std::ranges::count(tree.items, Item()); }

void check_skipped(const Tree& tree, Random& random) {
  ps::RunOptions options = drawn_options(random);
  options.on_error = ps::skip_all();
  auto run = tree.dataset.start(options);
  for (std::size_t i = 0; i < tree.items.size(); ++i) {
    if (tree.items[i]) expect(tree, i, next_of(run), "errors skipped");
  }
  expect(tree, tree.items.size(), next_of(run), "errors skipped");
  const ps::RunStats stats = run.stats();
  EXPECT_EQ(stats.errors, failures_in(tree));
  EXPECT_EQ(stats.skipped, stats.errors);
  EXPECT_EQ(stats.delivered, std::ssize(tree.items) - stats.errors);
}

void check_resumed(const Tree& tree, Random& random) {
  ps::RunOptions options = drawn_options(random);
  std::size_t place = 0;
  for (bool again = true; again; again = random.one_in(2)) {
    auto run = tree.dataset.start(options);
    for (auto more = static_cast<std::int64_t>(random.next() % (tree.items.size() - place + 1)); more > 0; --more)
      expect(tree, place++, next_of(run), "before a checkpoint");
    options = drawn_options(random);
    options.resume_from = std::make_shared<ps::Checkpoint>(run.checkpoint());
  }
  auto run = tree.dataset.start(options);
  for (; place <= tree.items.size(); ++place) expect(tree, place, next_of(run), "resumed");
}

TEST(RandomTreeFaults, AreDeliveredCountedAndResumed) {
  Drawer::Coverage coverage;
  std::int64_t failures = 0;
  const std::int64_t count = how_many(1000);
  check_trees(count,
              [&](const Tree& tree, std::uint64_t seed) {
                Random random(seed ^ 0xFA17);
                failures += failures_in(tree);
                check_skipped(tree, random);
                check_resumed(tree, random);
              },
              coverage, {.faults = true});
  if (number_from_environment("PENSTOCK_SEED")) return;
  EXPECT_GE(failures, count) << "one in each tree, on average";
  for (const char* merge : {"zip", "concatenate", "sample", "choose"})
    EXPECT_GE(coverage["fail>" + std::string(merge)] + coverage["generator>" + std::string(merge)], count / 20)
        << merge;
}

}  // namespace
}  // namespace trees
