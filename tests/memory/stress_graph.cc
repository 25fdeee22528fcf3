#include "tests/memory/stress_graph.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

namespace memory_stress {
namespace {

using Many = std::vector<ps::Element>;

std::int64_t draw_budget(penstock::test::Random& random) {
  static const std::vector<std::int64_t> budgets = {20'000, 100'000, 400'000, 1'000'000, 4'000'000, 64'000'000};
  return random.pick(budgets);
}

std::int64_t number_of(const ps::Element& input) { return input.get<Payload>().number(); }

Recipe making(Tally& tally, std::uint64_t salt) {
  const auto number = [](const ps::Element& input) { return input.get<std::int64_t>(); };
  return {.number = number,
          .bytes = [=](const ps::Element& input) { return size_of(number(input), salt); },
          .result = [&tally, number](const ps::Element& input,
                                     std::int64_t bytes) { return ps::Element(Payload(tally, number(input), bytes)); }};
}

Recipe resizing(Tally& tally, std::uint64_t salt) {
  return {.number = number_of,
          .bytes = [salt](const ps::Element& input) { return size_of(number_of(input), salt); },
          .result = [&tally](const ps::Element& input,
                             std::int64_t bytes) { return ps::Element(Payload(tally, number_of(input), bytes)); }};
}

// One to three parts of equal size, and now and then none.
Recipe splitting(Tally& tally, std::uint64_t salt) {
  const auto parts = [](const ps::Element& input) { return (number_of(input) * 7 + 3) % 4; };
  return {.number = number_of,
          .bytes =
              [=](const ps::Element& input) {
                const std::int64_t count = parts(input);
                return count == 0 ? 0 : size_of(number_of(input), salt) / count * count;
              },
          .result =
              [&tally, parts](const ps::Element& input, std::int64_t bytes) {
                Many many;
                const std::int64_t count = parts(input);
                for (std::int64_t i = 0; i < count; ++i)
                  many.emplace_back(Payload(tally, number_of(input) * 4 + i, bytes / count));
                return ps::Element(std::move(many));
              },
          .many = true};
}

// A whole batch becomes one payload of ordinary size.
Recipe merging(Tally& tally, std::uint64_t salt) {
  const auto first = [](const ps::Element& input) { return input.get<ps::Batch<Payload>>().front().number(); };
  return {.number = first,
          .bytes = [=](const ps::Element& input) { return size_of(first(input), salt); },
          .result = [&tally, first](const ps::Element& input,
                                    std::int64_t bytes) { return ps::Element(Payload(tally, first(input), bytes)); }};
}

// Of two payloads one.
Recipe joining(Tally& tally, std::uint64_t salt) {
  using Pair = std::tuple<Payload, Payload>;
  const auto first = [](const ps::Element& input) { return std::get<0>(input.get<Pair>()).number(); };
  return {.number = first,
          .bytes = [=](const ps::Element& input) { return size_of(first(input), salt); },
          .result = [&tally, first](const ps::Element& input,
                                    std::int64_t bytes) { return ps::Element(Payload(tally, first(input), bytes)); }};
}

}  // namespace

StressGraph::StressGraph(std::uint64_t seed, bool hinted, Shape shape)
    : random_(seed), hinted_(hinted), budget_(draw_budget(random_)), data_(source(random_.between(150, 400))) {
  for (std::int64_t steps = random_.between(1, 5); steps > 0; --steps) add_step();
  for (std::int64_t more = shape == Shape::tree ? random_.between(1, 3) : 0; more > 0; --more) add_input();
  for (std::int64_t more = shape == Shape::nest ? random_.between(1, 2) : 0; more > 0; --more) {
    add_nest();
    add_step();
  }
  const std::int64_t prefetch = random_.between(1, 20);
  if (random_.one_in(2)) data_ = data_.prefetch(random_.one_in(2) ? ps::AUTOTUNE : ps::Tunable(prefetch));
}

// Another chain, put together with what there is. A payload of its own comes of each element, or of both: so the sizes
// of what follows are known.
void StressGraph::add_input() {
  const ps::Dataset<Payload> first = data_;
  const Sizes* const sizes = parts_.back().sizes;
  data_ = source(random_.between(50, 200));
  for (std::int64_t steps = random_.between(0, 2); steps > 0; --steps) add_step();
  parts_.push_back({.sizes = sizes});
  const Behaviour behaviour = draw_behaviour();
  const auto how = random_.below(3);
  Sizes& joined = add_op(behaviour);
  if (how == 0) {
    data_ = ps::zip(first, data_)
                .then<Payload>(std::make_shared<StressOp>("join", behaviour, joining(tally_, behaviour.salt), joined));
    return;
  }
  const std::vector<ps::Dataset<Payload>> both{first, data_};
  data_ = (how == 1 ? ps::concatenate(both) : ps::sample_from(both, {.seed = random_.next()}))
              .then<Payload>(std::make_shared<StressOp>("resize", behaviour, resizing(tally_, behaviour.salt), joined));
}

std::string StressGraph::text() const {
  return ps::describe(data_) + "budget " + std::to_string(budget_) + (hinted_ ? ", hinted" : ", unhinted");
}

ps::Dataset<Payload> StressGraph::source(std::int64_t count) {
  const Behaviour behaviour = draw_behaviour();
  Sizes& sizes = add_op(behaviour);
  return ps::range(count).then<Payload>(
      std::make_shared<StressOp>("make", behaviour, making(tally_, behaviour.salt), sizes));
}

Behaviour StressGraph::draw_behaviour() {
  Behaviour behaviour;
  behaviour.hinted = hinted_;
  behaviour.blocks = random_.one_in(3);
  behaviour.parallelism = random_.between(1, behaviour.blocks ? 12 : 4);
  behaviour.automatic = random_.one_in(2);
  behaviour.time = std::chrono::microseconds(random_.pick(std::vector<int>{0, 0, 50, 200}));
  behaviour.salt = random_.next();
  return behaviour;
}

Sizes& StressGraph::add_op(const Behaviour& behaviour) {
  sizes_.emplace_back();
  parts_.push_back({.sizes = &sizes_.back(), .parallelism = behaviour.parallelism});
  return sizes_.back();
}

void StressGraph::add_step() {
  switch (random_.below(6)) {
    case 0: return add_resize();
    case 1: return add_split();
    case 2: return add_filter();
    case 3: return add_merge();
    case 4: return add_batch_and_unbatch();
    default: return add_shuffle();
  }
}

void StressGraph::add_resize() {
  const Behaviour behaviour = draw_behaviour();
  Sizes& sizes = add_op(behaviour);
  data_ = data_.then<Payload>(std::make_shared<StressOp>("resize", behaviour, resizing(tally_, behaviour.salt), sizes));
}

void StressGraph::add_split() {
  const Behaviour behaviour = draw_behaviour();
  Sizes& sizes = add_op(behaviour);
  data_ = data_.then<Payload>(std::make_shared<StressOp>("split", behaviour, splitting(tally_, behaviour.salt), sizes));
}

void StressGraph::add_filter() {
  const std::int64_t modulus = random_.between(2, 5);
  const std::int64_t parallelism = random_.between(1, 4);
  parts_.push_back({.sizes = parts_.back().sizes, .parallelism = parallelism});
  data_ = data_.filter([modulus](const Payload& payload) { return payload.number() % modulus != 0; },
                       {.parallelism = parallelism});
}

void StressGraph::add_merge() {
  const auto size = random_.between(2, 10);
  const auto rows = static_cast<std::size_t>(size);
  parts_.push_back({.sizes = parts_.back().sizes, .required = rows, .one = rows});
  const Behaviour behaviour = draw_behaviour();
  Sizes& sizes = add_op(behaviour);
  data_ = data_.batch(size).then<Payload>(
      std::make_shared<StressOp>("merge", behaviour, merging(tally_, behaviour.salt), sizes));
}

void StressGraph::add_batch_and_unbatch() {
  const auto size = random_.between(2, 10);
  const auto rows = static_cast<std::size_t>(size);
  const Sizes* sizes = parts_.back().sizes;
  parts_.push_back({.sizes = sizes, .required = rows, .one = rows});
  parts_.push_back({.sizes = sizes, .required = rows, .one = rows, .parallelism = 4});
  data_ = data_.batch(size).unbatch();
}

void StressGraph::add_shuffle() {
  const auto window = random_.between(2, 20);
  parts_.push_back({.sizes = parts_.back().sizes, .required = static_cast<std::size_t>(window)});
  data_ = data_.shuffle(window, {.seed = random_.next()});
}

// Each payload becomes none to three. A call may make as many as a dataset may have ready.
void StressGraph::add_nest() {
  const Behaviour behaviour = draw_behaviour();
  const ps::InterleaveOptions options{.cycle_length = random_.between(1, 8),
                                      .block_length = random_.between(1, 4),
                                      .parallelism = behaviour.parallelism,
                                      .blocks = behaviour.blocks};
  Sizes& sizes = add_op(behaviour);
  parts_.back().one = 2 * static_cast<std::size_t>(options.block_length);
  places_in_nests_ += 3 * options.cycle_length * 2 * options.block_length * std::int64_t{sizeof(ps::Slot)};
  const auto inside = std::make_shared<StressOp>("inside", behaviour, making(tally_, behaviour.salt), sizes);
  data_ = data_.interleave(
      [inside](const Payload& payload) {
        const std::int64_t first = 4 * payload.number();
        return ps::range(first, first + payload.number() % 4).then<Payload>(inside);
      },
      options);
}

std::int64_t StressGraph::bound() const {
  std::int64_t required = 0, one_each = 0;
  for (const Part& part : parts_) {
    required += part.sizes->largest(part.required);
    one_each += part.sizes->largest(part.one);
  }
  return std::max(budget_, required) + one_each;
}

std::int64_t StressGraph::most_in_flight() const {
  std::int64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.parallelism * part.sizes->largest(part.one);
  return bytes;
}

std::int64_t StressGraph::most_in_parts() const {
  std::int64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.one > 1 ? part.sizes->largest(part.one) : 0;
  return bytes;
}

std::int64_t StressGraph::largest_delivered() const { return parts_.back().sizes->largest(parts_.back().one); }

}  // namespace memory_stress
