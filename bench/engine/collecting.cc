// What ops cost that put elements together, and what they fill up.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kMany = 2'000'000, kTexts = 100'000;

using Tokens = std::vector<std::int32_t>;

// Log-normal lengths, as those of sentences are: a median of 20 tokens, one text in a hundred has more than 100. The
// sum of twelve uniform numbers is nearly normal.
Tokens text(std::int64_t, Context& context) {
  CounterRng random = context.rng();
  double normal = -6;
  for (int i = 0; i < 12; ++i) normal += random.uniform();
  return Tokens(static_cast<std::size_t>(1 + std::exp(3 + 0.7 * normal)), 1);
}

// Of one epoch. A token is 1, and 0 is what was filled up.
struct Filled {
  std::int64_t batches = 0, texts = 0;
  double share = 0;
  double copies = 0;  // of each token's bytes: one, into its batch
};
Filled filled_up(const Dataset<Tensor>& batches) {
  Filled filled;
  std::int64_t tokens = 0, room = 0;
  auto run = batches.start();
  while (const auto batch = run.next()) {
    const auto values = batch->values<std::int32_t>();
    tokens += std::accumulate(values.begin(), values.end(), std::int64_t{0});
    room += std::ssize(values);
    filled.texts += batch->shape()[0];
    ++filled.batches;
  }
  if (filled.texts != kTexts) throw std::runtime_error("got " + std::to_string(filled.texts) + " texts");
  filled.share = 1 - static_cast<double>(tokens) / static_cast<double>(room);
  double copied_bytes = 0;
  for (const StageSnapshot& stage : run.snapshot().stages) copied_bytes += static_cast<double>(stage.copied_bytes);
  filled.copies = copied_bytes / static_cast<double>(tokens) / sizeof(std::int32_t);
  return filled;
}

}  // namespace

void run_collecting(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(5);
  const auto ns_of = [rounds](const auto& dataset, std::int64_t expected, Cost& cost) {
    cost = cheapest_drain(dataset, expected, rounds);
    return ns_per(cost.cpu_s, kMany);
  };
  const auto add = [&](const char* variant, const auto& dataset, std::int64_t expected, double input_ns) {
    Cost cost;
    const double ns = ns_of(dataset, expected, cost) - input_ns;
    report.add({"collecting", variant, kMany, cost, {{"cpu_ns_per_element", ns}}, {{"cpu_ns_per_element", 150}}});
  };
  constexpr std::int64_t kBatches = kMany / 128;
  const auto numbers = range(kMany);
  add("batch", numbers.batch(128), kBatches, 0);
  add("window", numbers.window(128), kBatches, 0);
  add("rebatch", numbers.batch(128).rebatch(64), 2 * kBatches, 0);
  const auto texts = numbers.map([](std::int64_t x) { return Tokens(1, static_cast<std::int32_t>(x)); });
  Cost cost;
  const double made_ns = ns_of(texts.filter([](const Tokens& tokens) { return tokens.empty(); }), 0, cost);
  add("padded_batch_without_the_map", texts.padded_batch(128), kBatches, made_ns);
}

void run_text(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(3);
  const auto texts = range(kTexts).map(text);
  const auto add = [&](const char* variant, const Dataset<Tensor>& batches) {
    const Filled filled = filled_up(batches);
    const Cost cost = cheapest_drain(batches, filled.batches, rounds);
    report.add({"text",
                variant,
                kTexts,
                cost,
                {{"cpu_ns_per_element", ns_per(cost.cpu_s, kTexts)},
                 {"padding_share", filled.share},
                 {"copies", filled.copies}},
                {{"copies", 1}}});
  };
  add("padded_batch", texts.padded_batch(64));
  const auto length = [](const Tokens& tokens) { return tokens.size(); };
  add("bucket_by_sequence_length",
      texts.bucket_by_sequence_length(length, {.bucket_boundaries = {10, 15, 20, 25, 30, 40, 50, 70, 100},
                                               .bucket_batch_sizes = {128, 128, 96, 96, 64, 64, 48, 32, 24, 16}}));
}

}  // namespace penstock::bench
