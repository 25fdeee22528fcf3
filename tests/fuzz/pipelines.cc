#include "tests/fuzz/pipelines.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "autotune/policy.h"
#include "lib/runtime/start_run.h"
#include "tests/fuzz/targets.h"

namespace penstock::fuzz {
namespace {

constexpr int kMostRequests = 40;  // of an endless pipeline

Values single(std::int64_t value) { return {value}; }
Values some(std::int64_t value) { return Values(static_cast<std::size_t>(value % 3), value); }
std::int64_t not_three(std::int64_t value) {
  if (value == 3) throw std::runtime_error("planted");
  return value;
}

Dataset<std::int64_t> generated() {
  return from_generator([i = std::int64_t{0}]() mutable { return i < 7 ? std::optional(i++) : std::nullopt; });
}

std::vector<Pipeline> make_pipelines() {
  return {
      {range(9).map(single)},
      {range(9).shuffle(9, {.seed = 2}).map(not_three).batch(2)},
      {range(9).shuffle(3, {.seed = 2}).shard(2, 1).map(single)},
      {range(8).map(some).unbatch().map(single)},
      {range(8).map(some).unbatch().batch(3)},
      {range(4).map(not_three).map(single).repeat(3).repeat(2)},
      {range(3).map(single).repeat(), true},
      {range(5).batch(2).repeat(), true},
      {generated().map(not_three).map(single)},
      {generated().map(not_three).shuffle(3, {.seed = 2}).batch(2)},
      {range(9).map(not_three).ignore_errors().map(single).take(5)},
      {range(9).map(single).skip(2).repeat(2)},
  };
}

Dataset<std::int64_t> parts(std::int64_t count) { return range(count).map(some).unbatch(); }

std::vector<Pipeline> make_saving_pipelines() {
  const std::vector<Dataset<std::int64_t>> three{parts(9), generated(), range(4).map(not_three)};
  const auto nested = [](std::int64_t n) { return range(n % 4).map(not_three); };
  const auto choice = range(30).map([](std::int64_t n) { return n * n % 3; });
  return {
      {parts(12).shuffle(4, {.seed = 2}).batch(2)},
      {parts(12).shuffle(4, {.seed = 2, .order = ShuffleOrder::tensorflow}).skip(2).take(7).map(single)},
      {parts(12).window(4, {.shift = 2}).batch(1).map([](const Batch<Values>& batch) { return batch.front(); })},
      {parts(9)
           .shard(2, 1)
           .scan(std::int64_t{0},
                 [](std::int64_t sum, std::int64_t value) {
                   return Scanned{sum + value, sum};
                 })
           .map(single)},
      {parts(9).assert_cardinality(9).take_while([](std::int64_t value) { return value < 8; }).batch(3)},
      {zip(three[0], three[1], three[2].ignore_errors()).map([](std::int64_t a, std::int64_t b, std::int64_t c) {
        return Values{a, b, c};
      })},
      {concatenate(three).repeat(2).batch(2)},
      {sample_from(three, {.weights = {1, 2, 1}, .seed = 5}).map(single)},
      {choose_from(three, choice).batch(3)},
      {parts(9).interleave(nested, {.cycle_length = 3, .block_length = 2}).batch(2)},
      {parts(9)
           .enumerate()
           .map([](std::int64_t number, std::int64_t value) {
             return Values{number, value};
           })
           .repeat(),
       true},
      {generated().shuffle(3, {.seed = 1}).interleave(nested, {.cycle_length = 2}).shuffle(3, {.seed = 4}).map(single)},
      {generated().batch(2).unbatch().unique().map(single)},
  };
}

}  // namespace

const std::vector<Pipeline>& pipelines() {
  static const std::vector<Pipeline> made = make_pipelines();
  return made;
}

const std::vector<Pipeline>& saving_pipelines() {
  static const std::vector<Pipeline> made = make_saving_pipelines();
  return made;
}

Run<Values> saving_run(const Pipeline& pipeline, std::shared_ptr<const Checkpoint> from) {
  constexpr exec::SaveSpacing kDense{.slots = 1, .shortest_ns = 0, .longest_ns = 0};
  return Run<Values>(runtime::start_run(pipeline.data.node(), {.serial = true, .resume_from = std::move(from)},
                                        autotune::default_policy, kDense));
}

bool take_one(Run<Values>& run) {
  try {
    return run.next().has_value();
  } catch (const ElementError&) {
    return true;
  }
}

Checkpoint saved(const Pipeline& pipeline) {
  constexpr int kFew = 5;
  auto run = saving_run(pipeline);
  for (int taken = 0; taken < kFew && take_one(run); ++taken) {
  }
  return run.checkpoint();
}

std::string_view digest_in(std::string_view save_point) {
  const auto last = std::ranges::find_if(save_point, [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  return save_point.substr(0, static_cast<std::size_t>(last - save_point.begin()) + 1);
}

namespace {

// What was held may fail now where the checkpoint is damaged: that input may never have been an element.
bool is_of_the_checkpoint(const Error& error) {
  return error.code() == ErrorCode::data_loss ||
         std::string_view(error.what()).find("fails this time") != std::string_view::npos;
}

// A run that cannot go on says so each time.
bool has_ended(Run<Values>& run) {
  try {
    return run.next() == std::nullopt;
  } catch (const Error& error) {
    return is_of_the_checkpoint(error);
  }
}

}  // namespace

Rest rest_of(Run<Values>& run) {
  Rest rest;
  for (int request = 0; request < kMostRequests; ++request) {
    std::optional<Values> value;
    bool failed = false;
    try {
      value = run.next();
    } catch (const ElementError&) {
      failed = true;  // an element's own
    } catch (const Error& error) {
      require(is_of_the_checkpoint(error), "a place that is not there is data loss");
      require(has_ended(run), "then there is no more");
      rest.whole = false;
      return rest;
    }
    if (value) rest.values.insert(rest.values.end(), value->begin(), value->end());
    if (!value && !failed) break;
  }
  return rest;
}

}  // namespace penstock::fuzz
