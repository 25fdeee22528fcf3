// Random trees and nests that are resumed: a checkpoint at every place, through its bytes, and again of runs that were
// resumed themselves. Save points stand at places that are drawn. What comes has the stamps of a serial run, too.
//
//   PENSTOCK_FULL=1 random_saves_test          ten times as many
//   PENSTOCK_SEED=17 random_saves_test         this one alone
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/runtime/start_run.h"
#include "tests/random/tree_series.h"
#include "tests/support/save_spacing.h"

namespace trees {
namespace {

using Saved = std::shared_ptr<const ps::Checkpoint>;

constexpr std::size_t kMostPlaces = 30;  // of a tree: of one with more items they are drawn

ps::Run<std::int64_t> started(const Tree& tree, Random& random, Saved from = nullptr) {
  ps::RunOptions options{.threads = static_cast<int>(random.between(1, 3)), .tune = random.one_in(2)};
  options.serial = random.one_in(3);
  options.resume_from = std::move(from);
  if (random.one_in(3)) options.memory_bytes = static_cast<std::size_t>(random.between(100, 4000));
  return ps::Run<std::int64_t>(ps::runtime::start_run(tree.dataset.node(), options, ps::autotune::default_policy,
                                                      ps::test::drawn_save_spacing(random)));
}

Saved saved(const ps::Run<std::int64_t>& run) {
  return std::make_shared<ps::Checkpoint>(ps::Checkpoint::from_bytes(run.checkpoint().to_bytes()));
}

// What random numbers behind the last element would hang on.
std::string stamp_of_last(const ps::Run<std::int64_t>& run) {
  const ps::Checkpoint now = run.checkpoint();
  return std::to_string(now.last.pass) + ' ' + std::to_string(now.last.ordinal) + ' ' + std::to_string(now.last.sub);
}

// A tree, and the stamps that its items have in a serial run.
struct Stamped {
  const Tree& tree;
  std::vector<std::string> stamps;

  explicit Stamped(const Tree& of) : tree(of) {
    auto run = ps::Run<std::int64_t>(
        ps::runtime::start_run(tree.dataset.node(), {.serial = true}, ps::autotune::default_policy));
    while (stamps.size() <= tree.items.size()) {
      next_of(run);
      stamps.push_back(stamp_of_last(run));
    }
  }
  void expect_next(std::size_t i, ps::Run<std::int64_t>& run, const std::string& where) const {
    expect(tree, i, next_of(run), where);
    if (const std::string got = stamp_of_last(run); got != stamps[i])
      throw std::runtime_error(where + ", number " + std::to_string(i) + ": made of " + got + " instead of " +
                               stamps[i]);
  }
};

// The rest of the epoch, up to the next one's first items.
void expect_rest(const Stamped& stamped, std::size_t place, ps::Run<std::int64_t> run) {
  const Tree& tree = stamped.tree;
  const std::string where = "resumed behind " + std::to_string(place);
  for (std::size_t i = place; i <= tree.items.size(); ++i) stamped.expect_next(i, run, where);
  run.epoch(1);
  for (std::size_t i = 0; i < std::min<std::size_t>(tree.items.size(), 3); ++i)
    expect(tree, i, next_of(run), where + ", then the next epoch");
}

struct Seen {
  std::int64_t resumptions = 0, with_save_point = 0;
};

void check_place(const Stamped& stamped, std::size_t place, const Saved& from, Random& random, Seen& seen) {
  const Tree& tree = stamped.tree;
  ++seen.resumptions;
  seen.with_save_point += !from->save_point.empty();
  auto again = started(tree, random, from);
  if (!random.one_in(3)) return expect_rest(stamped, place, std::move(again));
  const std::size_t more = random.next() % (tree.items.size() - place + 1);
  for (std::size_t i = place; i < place + more; ++i)
    stamped.expect_next(i, again, "resumed behind " + std::to_string(place));
  ++seen.resumptions;
  expect_rest(stamped, place + more, started(tree, random, saved(again)));
}

void check_all_places(const Tree& tree, Random& random, Seen& seen) {
  const std::size_t places = tree.items.size() + 1;
  const auto one_in = static_cast<std::int64_t>((places + kMostPlaces - 1) / kMostPlaces);
  const Stamped stamped(tree);
  auto run = started(tree, random);
  for (std::size_t place = 0; place < places; ++place) {
    if (random.one_in(one_in)) check_place(stamped, place, saved(run), random, seen);
    stamped.expect_next(place, run, "while it is saved");
  }
}

void check_resumed_trees(std::int64_t count, std::uint64_t salt, Drawn drawn) {
  Drawer::Coverage coverage;
  Seen seen;
  check_trees(
      count,
      [&](const Tree& tree, std::uint64_t seed) {
        Random random(seed ^ salt);
        check_all_places(tree, random, seen);
      },
      coverage, drawn);
  if (number_from_environment("PENSTOCK_SEED")) return;
  EXPECT_GE(seen.resumptions, 3 * count);
  EXPECT_GE(5 * seen.with_save_point, seen.resumptions) << "of " << seen.resumptions;
}

TEST(RandomSaves, OfTreesGoOnWhereTheyStood) { check_resumed_trees(how_many(300), 0x5A7E, {}); }

TEST(RandomSaves, OfTreesWithFaultsGoOnWhereTheyStood) { check_resumed_trees(how_many(150), 0x5A7F, {.faults = true}); }

TEST(RandomSaves, OfNestsGoOnWhereTheyStood) { check_resumed_trees(how_many(150), 0x5A80, {.nests = true}); }

}  // namespace
}  // namespace trees
