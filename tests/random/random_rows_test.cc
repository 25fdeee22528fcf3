// Random pipelines whose samples are written into batch memory, against the same ones whose samples lie in memory of
// their own, read serially. Ops declare the truth or not, fail before and after, keep copies of what they give, and
// knobs are moved meanwhile.
//
//   PENSTOCK_FULL=1 random_rows_test          3,000 pipelines instead of 300
//   PENSTOCK_SEED=17 random_rows_test         this one alone
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/random.h"
#include "tests/support/random_graphs/knob_mover.h"
#include "tests/support/watchdog.h"

namespace random_graphs {

struct Sample {
  ps::Tensor image, mask;
  std::int64_t id = 0;
};

}  // namespace random_graphs

template <> struct penstock::Fields<random_graphs::Sample> {
  using Sample = random_graphs::Sample;
  static constexpr auto value = std::tuple{&Sample::image, &Sample::mask, &Sample::id};
};

namespace random_graphs {
namespace {

using penstock::test::how_many;
using penstock::test::number_from_environment;
using penstock::test::Watchdog;

using Samples = std::vector<Sample>;

struct Plan {
  explicit Plan(std::uint64_t the_seed) : seed(the_seed) {
    Random random(seed);
    count = random.between(0, 60);
    batch = random.between(1, 9);
    most_rows = random.between(1, 4);
    errors_in = random.one_in(2) ? 0 : random.between(3, 20);
    lies_in = random.one_in(2) ? 0 : random.between(2, 20);
    odd_in = random.one_in(3) ? random.between(3, 20) : 0;
    keeps_in = random.one_in(2) ? random.between(1, 10) : 0;
    shape = random.between(0, 2);
    words = random.one_in(4) ? 40'000 : random.between(1, 40);
    ignores = random.one_in(4);
    filters = random.one_in(5);
    drops = random.one_in(3);
    repeat_before = random.between(1, 3);
    repeat_after = random.between(1, 2);
    take = random.one_in(4) ? random.between(0, 8) : -1;
  }

  // Each element gives one result, as it has declared, and nothing moves it. (A take() gives up what was under way.)
  bool copies_nothing() const {
    return shape == 0 && errors_in == 0 && lies_in == 0 && odd_in == 0 && !filters && take < 0;
  }

  std::uint64_t seed;
  std::int64_t count, batch, most_rows, errors_in, lies_in, odd_in, keeps_in, shape, words;
  bool ignores, filters, drops;
  std::int64_t repeat_before, repeat_after, take;
};

// What an op keeps of what it has given: those rows stay somebody's for a while.
class Keeper {
 public:
  void keep(const ps::Tensor& tensor) {
    ps::Tensor oldest;
    const std::lock_guard lock(mutex_);
    kept_.push_back(tensor);
    if (kept_.size() <= 20) return;
    oldest = std::move(kept_.front());
    kept_.pop_front();
  }

 private:
  std::mutex mutex_;
  std::deque<ps::Tensor> kept_;
};

ps::Tensor filled(ps::Tensor tensor, std::int64_t value) {
  std::ranges::fill(tensor.values<std::int64_t>(), value);
  return tensor;
}

// The op under test: what it does to a number depends on that alone.
class Maker {
 public:
  Maker(const Plan& plan, bool in_place) : plan_(plan), in_place_(in_place) {}

  Samples operator()(std::int64_t value, ps::Context& context) const {
    Random random(plan_.seed ^ static_cast<std::uint64_t>(value * 7919 + 1));
    const std::int64_t rows = plan_.shape == 0 ? 1 : random.between(0, plan_.most_rows);
    const std::int64_t declared = happens(random, plan_.lies_in) ? random.between(0, plan_.most_rows + 2) : rows;
    const std::int64_t failure = happens(random, plan_.errors_in) ? random.between(0, 3) : -1;
    const auto pause = std::chrono::microseconds(random.between(0, 60));
    if (failure == 0) throw std::runtime_error("before");
    const bool is_silent = random.one_in(8);
    if (!is_silent || plan_.copies_nothing()) context.outputs().declare(static_cast<std::size_t>(declared));
    if (failure == 1) throw std::runtime_error("declared");
    std::this_thread::sleep_for(pause);
    Samples samples;
    for (std::int64_t i = 0; i < rows; ++i)
      samples.push_back(sample(random, 100 * value + i, static_cast<std::size_t>(i), context));
    if (failure >= 2) throw std::runtime_error("made");
    return samples;
  }

  Sample one(std::int64_t value, ps::Context& context) const { return std::move((*this)(value, context).at(0)); }

 private:
  static bool happens(Random& random, std::int64_t one_in) { return one_in > 0 && random.one_in(one_in); }

  Sample sample(Random& random, std::int64_t id, std::size_t i, ps::Context& context) const {
    const std::int64_t odd = happens(random, plan_.odd_in) ? 1 : 0;
    Sample result{filled(tensor(context, i, {plan_.words + odd}), id), filled(tensor(context, i, {2, 3}), -id), id};
    if (happens(random, plan_.keeps_in)) keeper_->keep(result.image);
    return result;
  }

  ps::Tensor tensor(ps::Context& context, std::size_t i, const ps::Shape& shape) const {
    if (!in_place_ || i >= context.outputs().declared()) return ps::Tensor(ps::DType::i64, shape);
    return context.outputs().slot(i, ps::DType::i64, shape);
  }

  const Plan plan_;
  const bool in_place_;
  const std::shared_ptr<Keeper> keeper_ = std::make_shared<Keeper>();
};

ps::Dataset<Sample> samples_of(const Plan& plan, bool in_place) {
  const Maker maker(plan, in_place);
  const auto numbers = ps::range(plan.count);
  if (plan.shape == 0)
    return numbers.map([maker](std::int64_t value, ps::Context& context) { return maker.one(value, context); });
  if (plan.shape == 1) return numbers.flat_map(maker);
  const auto vectors = numbers.map(maker);
  return plan.ignores ? vectors.ignore_errors().unbatch() : vectors.unbatch();
}

ps::Dataset<ps::Batch<Sample>> batches_of(const Plan& plan, bool in_place) {
  auto samples = samples_of(plan, in_place).repeat(plan.repeat_before);
  if (plan.filters) samples = samples.filter([](const Sample& sample) { return sample.id % 3 != 0; });
  return samples.batch(plan.batch, {.drop_remainder = plan.drops}).take(plan.take).repeat(plan.repeat_after);
}

std::string text_of(const ps::Tensor& batch) {
  std::string text;
  for (std::int64_t i = 0; i < batch.shape()[0]; ++i) {
    const ps::Tensor row = batch.row(i);
    const auto values = row.values<std::int64_t>();
    const bool is_whole = std::ranges::all_of(values, [&](std::int64_t value) { return value == values[0]; });
    text += (is_whole ? std::to_string(values[0]) : std::string("torn")) + " ";
  }
  return text;
}

std::string text_of(const ps::Batch<Sample>& batch) {
  return text_of(batch.column<&Sample::image>()) + "/ " + text_of(batch.column<&Sample::mask>()) + "\n";
}

// Batches are kept for as long as the consumer likes, and looked at then.
class Reader {
 public:
  Reader(ps::Run<ps::Batch<Sample>>& run, Random& random) : run_(run), random_(random) {}

  // False: the end.
  bool step() {
    try {
      auto batch = run_.next();
      if (!batch) return false;
      kept_.push_back({std::move(*batch), ""});
    } catch (const ps::ElementError& error) {
      kept_.push_back(
          {std::nullopt, "x" + std::to_string(error.place().source_ordinal) + " " + error.place().op + "\n"});
    }
    if (random_.one_in(4)) look();
    return true;
  }

  void look() {
    for (const auto& [batch, error] : kept_) text += batch ? text_of(*batch) : error;
    kept_.clear();
  }

  std::string text;

 private:
  struct Delivery {
    std::optional<ps::Batch<Sample>> batch;
    std::string error;
  };
  ps::Run<ps::Batch<Sample>>& run_;
  Random& random_;
  std::vector<Delivery> kept_;
};

std::string serially(const Plan& plan) {
  Random random(1);
  auto run = batches_of(plan, false).start({.serial = true});
  Reader reader(run, random);
  while (reader.step()) {
  }
  reader.look();
  return reader.text;
}

ps::RunOptions draw_options(Random& random) {
  ps::RunOptions options;
  options.serial = random.one_in(5);
  options.threads = static_cast<int>(random.pick(std::vector<std::int64_t>{1, 2, 8}));
  options.tune = random.one_in(3);
  if (random.one_in(3)) options.memory_bytes = static_cast<std::size_t>(random.between(1'000, 1'000'000));
  return options;
}

struct Copied {
  std::int64_t bytes = 0;
  std::int64_t bytes_of_first_runs = 0;  // behind a checkpoint, the batch that was cut in two is copied
};

// A run with moved knobs, which another one continues from a checkpoint.
std::string in_place(const Plan& plan, Random& random, Copied& copied) {
  const auto dataset = batches_of(plan, true);
  const ps::RunOptions options = draw_options(random);
  std::string text;
  Coverage::Moves moves;
  std::shared_ptr<ps::Checkpoint> checkpoint;
  for (bool more = true; more;) {
    ps::RunOptions now = options;
    now.resume_from = checkpoint;
    auto run = dataset.start(now);
    auto knobs = run.knobs();
    Reader reader(run, random);
    std::int64_t steps = random.one_in(2) ? random.between(1, 10) : 1'000'000;
    while (steps-- > 0 && (more = reader.step())) {
      if (!knobs.empty() && random.one_in(2)) move_one(knobs, random, moves);
    }
    reader.look();
    text += reader.text;
    checkpoint = std::make_shared<ps::Checkpoint>(run.checkpoint());
    copied.bytes += run.stats().copied_bytes;
    if (!now.resume_from) copied.bytes_of_first_runs += run.stats().copied_bytes;
  }
  return text;
}

TEST(RandomRows, GiveTheSameBatchesAsMemoryOfTheirOwn) {
  Watchdog watchdog;
  std::int64_t copied_bytes = 0, plans_without_copies = 0;
  const auto only = number_from_environment("PENSTOCK_SEED");
  const std::int64_t count = only ? 1 : how_many(300);
  for (std::int64_t i = 0; i < count && !HasFailure(); ++i) {
    const Plan plan(only.value_or(static_cast<std::uint64_t>(i)));
    const std::string name = "PENSTOCK_SEED=" + std::to_string(plan.seed);
    watchdog.watch(name);
    const std::string expected = serially(plan);
    Random random(plan.seed ^ 0x5107);
    Copied copied;
    for (int run = 0; run < 4; ++run) EXPECT_EQ(in_place(plan, random, copied), expected) << name;
    copied_bytes += copied.bytes;
    if (!plan.copies_nothing()) continue;
    EXPECT_EQ(copied.bytes_of_first_runs, 0) << name;
    ++plans_without_copies;
  }
  if (!only) {
    EXPECT_GT(plans_without_copies, 0);
  }
  RecordProperty("copied_bytes", std::to_string(copied_bytes));
}

}  // namespace
}  // namespace random_graphs
