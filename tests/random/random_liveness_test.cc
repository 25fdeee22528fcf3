// Random chains of what users do beside the engine, and what it cannot see: pools of their own, sources that are fed by
// the consumer or by the outside world, functions that turn slow, several passes, consumers that pause, leave early, or
// sit in an arena of their own oneTBB. Each must come to its end, with all elements in order. A chain that stands still
// says on stderr who waits for whom (RunOptions need not ask for it), and then the watchdog ends it.
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/random.h"
#include "tests/support/watchdog.h"

namespace random_graphs {
namespace {

namespace ps = penstock;
using penstock::test::how_many;
using penstock::test::number_from_environment;
using penstock::test::Random;
using penstock::test::Watchdog;

// What may be taken by so many at once.
class Permits {
 public:
  explicit Permits(std::int64_t count) : free_(count) {}
  std::shared_ptr<void> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return free_ > 0; });
    --free_;
    return {static_cast<void*>(this), [this](void*) { add(); }};
  }
  // For good.
  void use_up() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return free_ > 0; });
    --free_;
  }
  void add() {
    {
      std::lock_guard lock(mutex_);
      ++free_;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t free_;
};

struct Item {
  std::int64_t value = 0;
  std::vector<std::shared_ptr<void>> held;  // buffers of the user's, until the consumer lets the item go
};
std::size_t bytes_of(const Item& item) { return sizeof item + item.held.capacity() * sizeof item.held[0]; }

using Items = ps::Dataset<Item>;

// One chain, and how it is consumed.
class Life {
 public:
  explicit Life(std::uint64_t seed)
      : random_(seed), elements_(random_.one_in(4) ? random_.between(1, 20) : random_.between(1, 600)) {}

  void live(Watchdog& watchdog, std::uint64_t seed) {
    Items items = passes(source());
    for (std::int64_t ops = random_.between(1, 4); ops > 0; --ops) items = one_more(items);
    if (random_.one_in(2))
      items = items.prefetch(add("prefetch", random_.pick(std::vector<ps::Tunable>{ps::AUTOTUNE, 1, 2, 16})));
    ps::RunOptions options;
    options.threads = static_cast<int>(random_.between(0, 3));
    options.tune = random_.one_in(2);
    text_ += "; threads " + std::to_string(options.threads) + (options.tune ? ", tuned" : "");
    draw_consumer();
    watchdog.watch("PENSTOCK_SEED=" + std::to_string(seed) + ": " + text_);
    run_ = std::make_unique<ps::Run<Item>>(items.start(options));
    if (arena_ > 0) {
      oneapi::tbb::task_arena(arena_).execute([this] { consume(); });
    } else {
      consume();
    }
    run_.reset();
    std::vector<std::int64_t> all = expected();
    if (leaves_after_ < static_cast<std::int64_t>(all.size())) {
      EXPECT_EQ(static_cast<std::int64_t>(taken_.size()), leaves_after_) << text_;
    } else {
      EXPECT_EQ(taken_, all) << text_;
    }
  }

 private:
  ps::Tunable add(const std::string& op, ps::Tunable number) {
    text_ += " " + op + "(" + (number.is_automatic() ? "AUTOTUNE" : std::to_string(number.low())) + ")";
    return number;
  }

  static Item item_of(std::int64_t value) { return {value, {}}; }

  // -------------------------------------------------------------------------------------------- sources

  Items source() {
    switch (random_.below(4)) {
      case 0: return text_ = "range", ps::range(elements_).map(item_of, 1);
      case 1: return text_ = "generator", generator([](std::int64_t) {});
      case 2: return text_ = "live generator", live_generator();
      default: return fed_generator();
    }
  }
  template <class Wait> Items generator(Wait wait) {
    return ps::from_generator([next = std::int64_t{0}, count = elements_, wait]() mutable -> std::optional<Item> {
      if (next >= count) return std::nullopt;
      wait(next);
      return item_of(next++);
    });
  }
  Items live_generator() {
    const std::int64_t pause = random_.between(1, 97),
                       microseconds = random_.pick(std::vector<std::int64_t>{50, 500, 5000});
    return generator([pause, microseconds](std::int64_t value) {
      if (value % pause == pause - 1) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    });
  }
  // May be so many elements ahead of the consumer; a chain that leaves elements out would starve it.
  Items fed_generator() {
    const std::int64_t ahead = random_.between(1, 100);
    text_ = "generator fed " + std::to_string(ahead) + " ahead";
    is_fed_ = true;
    answers_ = std::make_unique<Permits>(ahead);
    return generator([this](std::int64_t) { answers_->use_up(); });
  }

  // Little data again and again: results in arbitrary order must not wait for those of the next pass.
  Items passes(const Items& items) {
    if (is_fed_ || elements_ > 100 || random_.one_in(2)) return items;
    passes_ = random_.between(2, 20);
    text_ += " repeat(" + std::to_string(passes_) + ")";
    return items.repeat(passes_);
  }

  // -------------------------------------------------------------------------------------------- ops

  Items one_more(const Items& items) {
    switch (random_.below(is_fed_ ? 4 : 5)) {
      case 0: return pooled(items);
      case 1: return turning_slow(items);
      case 2: return width_ == 1 && elements_ * passes_ <= kFewLists ? lists(items) : pooled(items);
      case 3: return items.map([](Item item) { return item; }, add("map", calls()));
      default: return filtered(items);
    }
  }
  ps::Tunable calls() { return random_.pick(std::vector<ps::Tunable>{ps::AUTOTUNE, 1, 2, 8}); }

  Items filtered(const Items& items) {
    const std::int64_t divisor = random_.between(2, 9);
    divisors_.push_back(divisor);
    text_ += " filter(not " + std::to_string(divisor) + ")";
    return items.filter([divisor](const Item& item) { return item.value % divisor != 0; });
  }
  Items turning_slow(const Items& items) {
    const std::int64_t from = random_.below(elements_), every = random_.between(1, 50);
    const auto function = [from, every](Item item) {
      if (item.value >= from && item.value % every == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      return item;
    };
    return items.map(function, add("turning_slow", calls()));
  }

  // As many buffers as the header of Dataset::map asks for, and what the consumer keeps.
  Permits* pool_for(std::int64_t calls, ps::MapOptions& options) {
    const bool arbitrary = random_.one_in(3);
    is_arbitrary_ = is_arbitrary_ || arbitrary;
    options.order = arbitrary ? ps::Order::arbitrary : ps::Order::kept;
    const std::int64_t least = (arbitrary || calls == 1 ? 1 : 2 * calls) + 1;
    const std::int64_t buffers = least + (random_.one_in(2) ? 0 : random_.below(40));
    text_ += " pool(" + std::to_string(buffers) + ")" + (arbitrary ? " arbitrary" : "");
    pools_.push_back(std::make_unique<Permits>(buffers));
    return pools_.back().get();
  }
  Items pooled(const Items& items) {
    const std::int64_t calls = random_.pick(std::vector<std::int64_t>{1, 2, 8});
    ps::MapOptions options;
    const auto function = [pool = pool_for(calls, options)](Item item) {
      item.held.push_back(pool->take());
      return item;
    };
    return items.map(function, add("map", calls), options);
  }
  // A buffer for a list, which is given back when all of its elements have been taken.
  Items lists(const Items& items) {
    const std::int64_t calls = random_.pick(std::vector<std::int64_t>{1, 2, 8});
    width_ = random_.pick(std::vector<std::int64_t>{2, 100, 1200});
    ps::MapOptions options;
    const auto function = [pool = pool_for(calls, options), width = width_](Item item) {
      item.held.push_back(pool->take());
      return std::vector<Item>(static_cast<std::size_t>(width), item);
    };
    return items.flat_map(function, add("flat_map to " + std::to_string(width_), calls), options);
  }

  // -------------------------------------------------------------------------------------------- the consumer

  void draw_consumer() {
    pause_every_ = random_.one_in(2) ? random_.between(5, 200) : 0;
    arena_ = random_.one_in(4) ? static_cast<int>(random_.between(1, 4)) : 0;
    if (!is_fed_ && random_.one_in(4))
      leaves_after_ = random_.below(elements_);  // a fed source waits for answers until it has them
    text_ += leaves_after_ < kAll ? "; consumer leaves after " + std::to_string(leaves_after_) : "";
    text_ += "; consumer pauses every " + std::to_string(pause_every_) + ", arena of " + std::to_string(arena_);
  }

  // Keeps each item until it has the next one.
  void consume() {
    std::optional<Item> item;
    for (std::int64_t count = 1; count <= leaves_after_; ++count) {
      std::optional<Item> next = run_->next();
      if (!next) return;
      item = std::move(next);
      taken_.push_back(item->value);
      if (is_fed_) answers_->add();
      if (pause_every_ > 0 && count % pause_every_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::vector<std::int64_t> expected() {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < elements_ * passes_; ++i) {
      const std::int64_t value = i % elements_;
      const bool stays = std::ranges::all_of(divisors_, [&](std::int64_t divisor) { return value % divisor != 0; });
      if (stays) values.insert(values.end(), static_cast<std::size_t>(width_), value);
    }
    if (is_arbitrary_) std::ranges::sort(taken_), std::ranges::sort(values);
    return values;
  }

  Random random_;
  static constexpr std::int64_t kFewLists = 20;  // an element that waits for buffers takes up to 0.1 ms
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  const std::int64_t elements_;
  std::int64_t passes_ = 1, width_ = 1;
  std::int64_t leaves_after_ = kAll;
  std::string text_;
  std::vector<std::unique_ptr<Permits>> pools_;
  std::unique_ptr<Permits> answers_;
  std::vector<std::int64_t> divisors_;
  bool is_fed_ = false, is_arbitrary_ = false;
  std::int64_t pause_every_ = 0;
  int arena_ = 0;
  std::vector<std::int64_t> taken_;
  std::unique_ptr<ps::Run<Item>> run_;
};

TEST(RandomLiveness, NoChainStandsStill) {
  Watchdog watchdog;
  const auto only = number_from_environment("PENSTOCK_SEED");
  const std::int64_t count = only ? 1 : how_many(100);
  for (std::int64_t i = 0; i < count && !HasFailure(); ++i) {
    const std::uint64_t seed = only ? *only : static_cast<std::uint64_t>(i);
    Life(seed).live(watchdog, seed);
  }
}

}  // namespace
}  // namespace random_graphs
