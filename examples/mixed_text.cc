// Two corpora mixed 70 to 30, in batches of texts of about one length, so that little is filled up.
#include <penstock/penstock.h>

#include <cmath>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <tuple>
#include <vector>

namespace ps = penstock;

namespace {

struct Text {
  std::vector<std::int32_t> tokens;
  std::int32_t corpus = 0;
};

}  // namespace

template <> struct ps::Fields<Text> { static constexpr auto value = std::tuple{&Text::tokens, &Text::corpus}; };

namespace {

constexpr std::int64_t texts_an_epoch = 20'000;

// The sum of twelve uniform numbers is nearly normal.
double normal(ps::CounterRng random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

// Stands for files of text. Lengths are log-normal, as those of sentences are: most are short, a few very long.
ps::Dataset<Text> corpus(std::int32_t number, double mean_of_log) {
  const auto make = [number, mean_of_log](std::int64_t, ps::Context& context) {
    const double length = std::exp(mean_of_log + 0.6 * normal(context.rng()));
    return Text{std::vector<std::int32_t>(static_cast<std::size_t>(1 + length), 1), number};
  };
  return ps::range(1'000).shuffle(1'000, {.seed = 1}).map(make).repeat();  // the smaller one comes again sooner
}

struct Sums {
  std::int64_t texts = 0, of_the_first = 0, tokens = 0, room = 0;
};

Sums sums_of(const ps::Dataset<ps::PaddedBatch<Text>>& batches) {
  Sums sums;
  for (const auto& batch : batches) {
    const auto tokens = batch.column<&Text::tokens>().values<std::int32_t>();
    for (const std::int32_t token : tokens) sums.tokens += token;  // 1, and 0 where it was filled up
    sums.room += static_cast<std::int64_t>(tokens.size());
    for (const std::int32_t number : batch.column<&Text::corpus>()) sums.of_the_first += number == 0 ? 1 : 0;
    sums.texts += static_cast<std::int64_t>(batch.size());
  }
  return sums;
}

void print(const char* how, const Sums& sums) {
  const auto percent = [](std::int64_t part, std::int64_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  std::cout << std::fixed << std::setprecision(1) << how << ": " << sums.texts << " texts, "
            << percent(sums.of_the_first, sums.texts) << " % of the first corpus, "
            << percent(sums.room - sums.tokens, sums.room) << " % of the batches is padding\n";
}

}  // namespace

int main() {
  const auto texts = ps::sample_from(std::vector{corpus(0, 3.2), corpus(1, 3.8)}, {.weights = {0.7, 0.3}, .seed = 5})
                         .take(texts_an_epoch);
  const auto length = [](const Text& text) { return text.tokens.size(); };
  print("as they come", sums_of(texts.padded_batch(32)));
  print("by length",
        sums_of(texts.bucket_by_sequence_length(length, {.bucket_boundaries = {16, 24, 32, 48, 64, 96},
                                                         .bucket_batch_sizes = {96, 64, 48, 32, 24, 16, 8}})));
}

// Prints:
//   as they come: 20000 texts, 70.0 % of the first corpus, 70.3 % of the batches is padding
//   by length: 20000 texts, 70.0 % of the first corpus, 18.9 % of the batches is padding
