// Trees beside what gives the same without one: pictures of two corpora that are mixed behind their decoders, beside
// paths that are mixed before one decoder; a zip of branches that are not equally fast, beside the slower one alone.
#include <penstock/image.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/spin.h"
#include "bench/micro/picture.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kPictures = 12'000, kPairs = 4'000;
constexpr double kLeastShare = 0.97;  // of the rate without the tree

// How many times as fast the tree was, in turns.
template <class Tree, class Chain>
double rate_beside(const Dataset<Tree>& tree, const Dataset<Chain>& chain, std::int64_t elements, int rounds,
                   Cost& cost) {
  std::vector<double> rates;
  double before_s = drain(chain, elements).wall_s;
  for (int round = 0; round < rounds; ++round) {
    cost = drain(tree, elements);
    const double after_s = drain(chain, elements).wall_s;
    rates.push_back((before_s + after_s) / 2 / cost.wall_s);
    before_s = after_s;
  }
  return spread_of(rates).median;
}

// The second corpus has the same pictures, of which the middle is wanted.
Tensor decode_whole(std::int64_t) { return image::decode_jpeg(sample_jpeg()); }
Tensor decode_middle(std::int64_t) {
  return image::decode_jpeg(sample_jpeg(), image::centre_window({375, 500}, {188, 250}));
}

struct Path {
  std::int64_t number;
  bool is_whole;
};

// Of the stage that the waiting is blamed on most.
std::string blamed_in(const Dataset<std::tuple<std::int64_t, std::int64_t>>& pairs) {
  auto run = pairs.start();
  for (std::int64_t i = 0; i < kPairs / 2; ++i) run.next();
  const auto stages = run.explain().stages;
  return std::ranges::max_element(stages, {}, &Explanation::Stage::blame)->name;
}

}  // namespace

void run_mixed(const CaseSettings& settings, Report& report) {
  const auto numbers = range(kPictures);
  const SampleOptions shares{.weights = {0.7, 0.3}, .seed = 1};
  const auto behind = sample_from(std::vector{numbers.map(decode_whole), numbers.map(decode_middle)}, shares);
  const auto whole = numbers.map([](std::int64_t number) { return Path{number, true}; });
  const auto part = numbers.map([](std::int64_t number) { return Path{number, false}; });
  const auto before = sample_from(std::vector{whole, part}, shares).map([](const Path& path) {
    return path.is_whole ? decode_whole(path.number) : decode_middle(path.number);
  });
  Cost cost;
  const double rate =
      rate_beside(behind.take(kPictures), before.take(kPictures), kPictures, settings.rounds_or(5), cost);
  report.add({"mixed",
              "pictures_70_30",
              kPictures,
              cost,
              {{"rate_beside_paths_mixed_first", rate}},
              {{"rate_beside_paths_mixed_first", kLeastShare, false}}});
}

void run_unequal(const CaseSettings& settings, Report& report) {
  const auto read = [](std::int64_t number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return number;
  };
  const auto decode = [](std::int64_t number) {
    spin(2'000'000);
    return number;
  };
  const auto numbers = range(kPairs);
  const auto reads = numbers.map(read, {.blocks = true, .name = "read"});
  const auto decoded = numbers.map(decode, {.name = "decode"});
  const auto pairs = zip(reads, decoded);
  Cost cost;
  const double rate = rate_beside(pairs, decoded, kPairs, settings.rounds_or(5), cost);
  const bool is_right = blamed_in(pairs).find("decode") != std::string::npos;
  report.add({"unequal",
              "zip_of_10_ms_reads_and_2_ms_decoding",
              kPairs,
              cost,
              {{"rate_beside_decoding_alone", rate}, {"blames_decoding", is_right ? 1.0 : 0.0}},
              {{"rate_beside_decoding_alone", kLeastShare, false}, {"blames_decoding", 1, false}}});
}

}  // namespace penstock::bench
