// Pipelines that cannot run as they are written.
#include <penstock/merging.h>
#include <penstock/ops.h>

#include <limits>
#include <memory>
#include <optional>

#include "tests/errors/catalogue.h"

namespace penstock::errors {
namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

std::int64_t same(std::int64_t value) { return value; }
bool is_odd(std::int64_t value) { return value % 2 != 0; }
std::vector<std::int64_t> twice(std::int64_t value) { return {value, value}; }

std::optional<std::int64_t> nothing() { return std::nullopt; }

struct Short {
  std::int64_t size() const { return -1; }
  int at(std::int64_t) const { return 0; }
};

class Shapeless final : public Op {
 public:
  std::string name() const override { return "shapeless"; }
  Flow flow(const Flow& input) const override { return input; }
};

// Wants the same, whatever it is told, and gives nothing.
class Wants final : public MergeOp {
 public:
  Wants(std::string name, const Want& wanted) : name_(std::move(name)), wanted_(wanted) {}
  std::string name() const override { return name_; }
  Flow flow_of(std::span<const Flow>) const override { return {}; }
  std::unique_ptr<MergeState> open(std::size_t) const override { return std::make_unique<State>(wanted_); }

 private:
  class State final : public MergeState {
   public:
    explicit State(const Want& wanted) : wanted_(wanted) {}
    void begin_pass(const Stamp&) override {}
    Want want() const override { return wanted_; }
    void take(std::size_t, Slot&&, Emitter&) override {}
    void ended(std::size_t, Emitter&) override {}

   private:
    const Want wanted_;
  };
  const std::string name_;
  const Want wanted_;
};

Cases source_cases(const std::string& folder) {
  const std::string blank = write(folder + "/blank.txt", " \n\n"),
                    binary = write(folder + "/binary.txt", std::string("a\0b\n", 4));
  return {
      {"range with step 0", [] { range(0, 10, 0); }},
      {"range of more elements than can be counted", [] { range(-largest, largest); }},
      {"from_file_list of a list that is not there", [=] { from_file_list(folder + "/no.txt"); }},
      {"from_file_list of a folder", [=] { from_file_list(folder); }},
      {"from_file_list without a path in it", [=] { from_file_list(blank); }},
      {"from_file_list of a binary file",
       [=] { read(from_file_list(binary).map([](const std::string& path) { return read_file(path); })); }},
      {"lines of which none may have a byte", [] { lines("a.txt", {.max_line_bytes = 0}); }},
      {"a source of one's own that is null",
       [] {
         graph::build(nullptr, "mine", CallSite::here(), [] { return ops::indexed_source("mine", "", nullptr); });
       }},
      {"a source of one's own with a size below 0", [] { from_indexed(Short{}); }},
      {"a generator of one's own that is null",
       [] { graph::build(nullptr, "mine", CallSite::here(), [] { return ops::generator(nullptr); }); }},
  };
}

Cases order_cases() {
  const World second{.size = 2, .rank = 1};
  return {
      {"shard without shards", [] { range(10).shard(0, 0); }},
      {"shard beyond the last one", [] { range(10).shard(2, 2); }},
      {"shard below the first one", [] { range(10).shard(2, -1); }},
      {"shard of a World that cannot be", [] { range(10).shard(World{.size = 2, .rank = 7}); }},
      {"shard behind an unseeded shuffle", [] { range(10).shuffle(10).shard(2, 0); }},
      {"shard among ranks behind a filter", [=] { range(10).filter(is_odd).take(3).shard(second); }},
      {"shard among ranks behind unbatch", [=] { range(10).map(twice).unbatch().shard(second); }},
      {"shard among ranks behind a generator", [=] { from_generator(nothing).shard(second); }},
      {"shuffle without a buffer", [] { range(10).shuffle(0); }},
      {"shuffle with a global seed of its own", [] { range(10).shuffle(4, {.seed = 1, .global_seed = 2}); }},
      {"shuffle with a global seed alone",
       [] { range(10).shuffle(4, {.order = ShuffleOrder::tensorflow, .global_seed = 2}); }},
      {"shuffle in TensorFlow's order, cut between two repeats",
       [] { range(10).shuffle(4, {.seed = 1, .order = ShuffleOrder::tensorflow}).repeat(2).take(15).repeat(3); }},
      {"shuffle of more elements than can be permuted",
       [] { range(largest).shuffle(UNKNOWN_CARDINALITY, {.seed = 7}); }},
      {"shuffle of all of an endless input", [] { range(10).repeat().shuffle(UNKNOWN_CARDINALITY, {.seed = 7}); }},
      {"repeat -2 times", [] { range(10).repeat(-2); }},
      {"take -2 elements", [] { range(10).take(-2); }},
      {"skip -2 elements", [] { range(10).skip(-2); }},
  };
}

struct Uncopyable {
  std::unique_ptr<int> calls = std::make_unique<int>(0);
  std::int64_t operator()(std::int64_t value) { return value + ++*calls; }
};

Cases transform_cases() {
  const auto count = [calls = 0](std::int64_t value) mutable { return value + calls++; };
  const BytesHint hint([](const std::string& text) { return text.size(); });
  const auto numbers = [](std::int64_t value) { return range(value); };
  return {
      {"map with no parallelism", [] { range(10).map(same, 0); }},
      {"map between bounds that are the wrong way round", [] { range(10).map(same, Tunable::between(8, 2)); }},
      {"map of a function with a state, four at once", [=] { range(10).map(count, 4); }},
      {"map of a function with a state that cannot be copied", [] { range(10).map(Uncopyable(), 1); }},
      {"map with parallelism in two places", [] { range(10).map(same, 4, {.parallelism = 8}); }},
      {"map with a name of two lines", [] { range(10).map(same, {.name = "decode\nand crop"}); }},
      {"map with a name that is no UTF-8", [] { range(10).map(same, {.name = "caf\xe9"}); }},
      {"map with a long name", [] { range(10).map(same, {.name = std::string(100, 'x')}); }},
      {"map with a hint for another type", [=] { range(10).map(same, 2, {.bytes_hint = hint}); }},
      {"filter with no parallelism", [] { range(10).filter(is_odd, {.parallelism = 0}); }},
      {"flat_map with no parallelism", [] { range(10).flat_map(twice, 0); }},
      {"flat_map with a hint for another type", [=] { range(10).flat_map(twice, 2, {.bytes_hint = hint}); }},
      {"interleave of no dataset at once", [=] { range(10).interleave(numbers, {.cycle_length = 0}); }},
      {"interleave of more datasets at once than may be",
       [=] { range(10).interleave(numbers, {.cycle_length = 100'000}); }},
      {"interleave in blocks of nothing", [=] { range(10).interleave(numbers, {.block_length = 0}); }},
      {"interleave of a function with a state",
       [] { range(10).interleave([calls = 0](std::int64_t) mutable { return range(calls++); }, {.parallelism = 1}); }},
      {"batch of 0", [] { range(10).batch(0); }},
      {"assert_cardinality of -2", [] { range(10).assert_cardinality(-2); }},
      {"assert_cardinality of another count than is known", [] { range(10).assert_cardinality(9); }},
      {"padded_batch of 0", [] { range(10).padded_batch(0); }},
      {"padded_batch of what has no length", [] { range(10).padded_batch(4, {.padded_shapes = {8}}); }},
      {"padded_batch with a size below LONGEST", [] { range(10).map(twice).padded_batch(4, {.padded_shapes = {-2}}); }},
      {"padded_batch with sizes for another rank",
       [] {
         range(10).map(twice).padded_batch(4, {.padded_shapes = {8, 8}});
       }},
      {"padded_batch with a value of another type",
       [] { range(10).map(twice).padded_batch(4, {.padding_values = "none"}); }},
      {"ragged_batch of 0", [] { range(10).ragged_batch(0); }},
      {"bucket_by_sequence_length with a boundary that nothing can be padded to",
       [] {
         range(10).bucket_by_sequence_length(
             same, {.bucket_boundaries = {0}, .bucket_batch_sizes = {1, 1}, .pad_to_bucket_boundary = true});
       }},
      {"bucket_by_sequence_length without boundaries", [] { range(10).bucket_by_sequence_length(same, {}); }},
      {"bucket_by_sequence_length with boundaries that fall",
       [] {
         range(10).bucket_by_sequence_length(same, {.bucket_boundaries = {5, 3}, .bucket_batch_sizes = {1, 1, 1}});
       }},
      {"bucket_by_sequence_length without a size for the longest",
       [] { range(10).bucket_by_sequence_length(same, {.bucket_boundaries = {5}, .bucket_batch_sizes = {1}}); }},
      {"bucket_by_sequence_length with a batch of 0",
       [] {
         range(10).bucket_by_sequence_length(same, {.bucket_boundaries = {5}, .bucket_batch_sizes = {1, 0}});
       }},
      {"rebatch of 0", [] { range(10).batch(2).rebatch(0); }},
      {"rebatch without a size", [] { range(10).batch(2).rebatch(std::vector<std::int64_t>()); }},
      {"window of 0", [] { range(10).window(0); }},
      {"window beyond what can be counted", [] { range(10).window(3, {.stride = largest}); }},
      {"windows that overlap, of elements that cannot be copied",
       [] { range(10).map([](std::int64_t) { return std::make_unique<int>(1); }).window(3, {.shift = 2}); }},
      {"group_by_window of 0", [] { range(10).group_by_window(same, 0); }},
      {"prefetch of -1", [] { range(10).prefetch(-1); }},
      {"then without an op", [] { range(10).then<int>(nullptr); }},
      {"merge without an op", [] { merge<int>(OpRef(), range(10), range(10)); }},
      {"then with a source", [] { range(10).then<std::int64_t>(ops::range(0, 3, 1)); }},
      {"then with an op of no kind", [] { range(10).then<int>(std::make_shared<Shapeless>()); }},
      {"an op without an input", [] { graph::append(nullptr, ops::take(3), CallSite::here()); }},
  };
}

Cases merging_cases() {
  const std::vector two{range(3), range(3)};
  const auto class_zero = [](std::int64_t) { return 0; };
  return {
      {"concatenate of nothing", [] { concatenate(std::vector<Dataset<std::int64_t>>()); }},
      {"a dataset used again and again",
       [] {
         auto doubled = range(1);
         for (int i = 0; i < 20; ++i) doubled = doubled.concatenate(doubled);
       }},
      {"sample_from with one weight for two", [=] { sample_from(two, {.weights = {1}}); }},
      {"sample_from with a negative weight",
       [=] {
         sample_from(two, {.weights = {1, -1}});
       }},
      {"sample_from with weights of 0",
       [=] {
         sample_from(two, {.weights = {0, 0}});
       }},
      {"sample_from with weights whose sum is no number",
       [=] {
         sample_from(two, {.weights = {1e308, 1e308}});
       }},
      {"sample_from without a seed, among ranks", [=] { sample_from(two).shard(2, 0); }},
      {"random_split into nothing", [] { random_split(range(9), {}, 1); }},
      {"random_split with a negative fraction",
       [] {
         random_split(range(9), {1.5, -0.5}, 1);
       }},
      {"random_split into less than all",
       [] {
         random_split(range(9), {0.5, 0.25}, 1);
       }},
      {"random_split of who knows how many", [] { random_split(range(9).repeat(), {1}, 1); }},
      {"random_split behind a shuffle", [] { random_split(range(9).shuffle(9, {.seed = 1}), {1}, 1); }},
      {"rejection_resample to nothing",
       [=] {
         rejection_resample(range(9), class_zero, {0, 0});
       }},
      {"rejection_resample to a negative share",
       [=] {
         rejection_resample(range(9), class_zero, {1, -0.5});
       }},
      {"rejection_resample of other classes",
       [=] {
         rejection_resample(range(9), class_zero, {1, 1}, {.initial = {1}});
       }},
      {"rejection_resample of a class that never comes",
       [=] {
         rejection_resample(range(9), class_zero, {1, 1}, {.initial = {1, 0}});
       }},
      {"rejection_resample of a class that has no share",
       [=] {
         for (std::int64_t value : rejection_resample(range(9), [](std::int64_t) { return 2; }, {1, 1}))
           static_cast<void>(value);
       }},
      {"at() behind the end", [] { range(9).at(9); }},
      {"at() of what never ends", [] { counter().at(-1); }},
      {"at() behind a filter", [=] { range(9).filter([](std::int64_t x) { return x > 3; }).at(0); }},
      {"choose_from nothing", [] { choose_from(std::vector<Dataset<std::int64_t>>(), range(3)); }},
      {"choose_from with a choice that is none",
       [=] {
         for (std::int64_t value : choose_from(two, range(2, 3))) static_cast<void>(value);
       }},
      {"an op of one input with two",
       [=] {
         graph::append(std::vector{two[0].node(), two[1].node()}, ops::take(3), CallSite::here());
       }},
      {"a merging op that wants an input it does not have",
       [=] {
         for (std::int64_t value :
              merge<std::int64_t>(std::make_shared<Wants>("wants_a_third", Want::one(2)), two[0], two[1]))
           static_cast<void>(value);
       }},
      {"a merging op that goes on to want an input that has ended",
       [=] {
         for (std::int64_t value :
              merge<std::int64_t>(std::make_shared<Wants>("wants_for_ever", Want::one(0)), two[0], two[1]))
           static_cast<void>(value);
       }},
      {"a merging op that says it has something to give, and gives nothing",
       [=] {
         for (std::int64_t value :
              merge<std::int64_t>(std::make_shared<Wants>("gives_nothing", Want::own()), two[0], two[1]))
           static_cast<void>(value);
       }},
      {"cache of less than no bytes", [] { range(3).cache({.max_bytes = -1}); }},
      {"cache in a file of less than no bytes", [] { range(3).cache("a.cache", {.max_bytes = -1}); }},
      {"cache in a file without a name", [] { range(3).cache(""); }},
  };
}

}  // namespace

Cases graph_cases(const std::string& folder) {
  Cases all = source_cases(folder);
  for (const Cases& more : {order_cases(), transform_cases(), merging_cases()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace penstock::errors
