// Rewrites never change what a pipeline gives: random graphs, as they are written and with each rewrite by itself and
// all of them, against the list model: elements, order, errors in their places, counts. Runs are resumed with other
// rewrites than they were begun with.
//
//   PENSTOCK_FULL=1 random_rewrites_test        20,000 graphs instead of 2,000
//   PENSTOCK_SEED=17 random_rewrites_test       this graph alone
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/rewrite/rewrite.h"
#include "tests/random/series.h"
#include "tests/support/random_graphs/pumped_driver.h"
#include "tests/support/under_sanitizer.h"

namespace random_graphs {
namespace {

using model::Kind;
using model::Op;

constexpr ps::Rewrites kNone = ps::no_rewrites();

struct Setting {
  std::string name;
  ps::Rewrites rewrites;
};

std::vector<Setting> all_settings() {
  std::vector<Setting> settings{{"none", kNone}, {"all", {}}};
  const auto only = [&](const char* name, bool ps::Rewrites::*which) {
    ps::Rewrites rewrites = kNone;
    rewrites.*which = true;
    settings.push_back({name, rewrites});
  };
  only("noop_elimination", &ps::Rewrites::noop_elimination);
  only("selection_pushdown", &ps::Rewrites::selection_pushdown);
  only("map_fusion", &ps::Rewrites::map_fusion);
  only("map_and_filter_fusion", &ps::Rewrites::map_and_filter_fusion);
  return settings;
}

// Whatever options are drawn. How many graphs it has changed.
Driver with(const Driver& driver, const Setting& setting, std::map<std::string, std::int64_t>& changed) {
  Driver own = driver;
  own.name += ", rewrites: " + setting.name;
  own.start = [start = driver.start, setting, &changed](const ps::graph::NodeRef& node, ps::RunOptions options,
                                                        Random& random, Coverage& coverage) {
    options.rewrites = setting.rewrites;
    if (!ps::rewrite::rewritten(node, options.rewrites).changes.empty()) ++changed[setting.name];
    return start(node, options, random, coverage);
  };
  return own;
}

class RewriteSeries final : public Series {
 public:
  using Series::Series;

  const std::map<std::string, std::int64_t>& changed() const { return changed_; }

 private:
  // Functions as rewrites want them: most compute, and those that do not fail say so. And what rewrites look for, right
  // behind the source: maps, a filter, and something that selects, or does nothing.
  void alter(Graph& graph, std::uint64_t seed) override {
    Random random(seed ^ 0xA17E4);
    if (std::ranges::none_of(graph.ops, bears_no_more)) insert(graph, random);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      if (!random.one_in(8)) declare(graph.ops[i], graph.how[i]);
    }
  }

  // A rebatch further down would not take what maps make, and an endless repeat of errors would have no end.
  static bool bears_no_more(const Op& op) {
    return op.kind == Kind::rebatch || (op.kind == Kind::repeat && op.count < 0);
  }

  static void insert(Graph& graph, Random& random) {
    std::vector<Op> ops(static_cast<std::size_t>(random.between(1, 3)), Op{.kind = Kind::map});
    if (random.one_in(2)) ops.push_back({.kind = Kind::filter});
    for (Op& op : ops) Draw{.random = random, .limits = {}, .in = {}}.function(op);
    ops.insert(ops.begin() + random.between(0, std::ssize(ops)), selection(random));
    graph.ops.insert(graph.ops.begin() + 1, ops.begin(), ops.end());
    graph.how.insert(graph.how.begin() + 1, ops.size(), How());
  }

  static Op selection(Random& random) {
    switch (random.below(6)) {
      case 0: return {.kind = Kind::take, .count = -1};
      case 1: return {.kind = Kind::skip, .count = 0};
      case 2: return {.kind = Kind::repeat, .count = 1};
      case 3: return {.kind = Kind::take, .count = random.below(20)};
      case 4: return {.kind = Kind::skip, .count = random.below(10)};
      default: return {.kind = Kind::shard, .count = 3, .index = random.below(3)};
    }
  }

  static void declare(const Op& op, How& how) {
    if (op.kind != Kind::map && op.kind != Kind::filter) return;
    how.parallelism = 0;
    how.blocks = 0;
    how.cannot_fail = op.kind == Kind::map && op.fails.mod == 0;
  }

  void try_graph(const Graph&, Trial& trial, Random& random) override {
    for (const Setting& setting : all_settings())
      run("whole", &Trial::check_whole, with(driver(), setting, changed_), trial, random);
    run("errors skipped", &Trial::check_skipped, driver(), trial, random);
    run("resumed", &Trial::check_resumed, driver(), trial, random);
  }

  std::map<std::string, std::int64_t> changed_;
};

TEST(RandomRewrites, ChangeNothingOfWhatTheModelSays) {
  if (UNDER_THREAD_SANITIZER) GTEST_SKIP() << "there is one thread: nothing that ThreadSanitizer could see";
  const auto courier = std::make_shared<PumpedCourier>();
  RewriteSeries series(pumped_driver(courier), courier, {.jitter = false});
  const std::int64_t count = how_many_pumped(2'000);
  series.check(count);
  if (number_from_environment("PENSTOCK_SEED")) return;
  for (const Setting& setting : all_settings()) {
    const auto found = series.changed().find(setting.name);
    const std::int64_t changed = found == series.changed().end() ? 0 : found->second;
    std::cout << changed << " runs with " << setting.name << " were not as they are written\n";
    EXPECT_GE(changed, setting.name == "none" ? 0 : count / 10) << setting.name;
  }
}

}  // namespace
}  // namespace random_graphs
