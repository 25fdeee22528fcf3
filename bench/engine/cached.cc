// What a cache gives again, in memory and in a file that the page cache holds, and load() of that file.
//
//   numbers            1,000,000 of them through batch(1000), beside the same without a cache
//   pictures           1,000 tensors of 150,528 bytes (224 x 224 x 3): bytes that a CPU second gives,
//                      loaded at shuffled positions, too
#include <algorithm>
#include <string>

#include "bench/engine/cases.h"
#include "bench/engine/drain.h"
#include "bench/engine/temporary_file.h"
#include "lib/core/clock.h"

namespace penstock::bench {
namespace {

constexpr std::int64_t kNumbers = 1'000'000, kPictures = 1'000, kPictureBytes = 224 * 224 * 3;

Dataset<std::int64_t> numbers() {
  return range(kNumbers).map([](std::int64_t x) { return x; });
}
Dataset<Tensor> pictures() {
  return range(kPictures).map([](std::int64_t x) {
    Tensor picture(DType::u8, {224, 224, 3});
    std::ranges::fill(picture.values<std::uint8_t>(), static_cast<std::uint8_t>(x));
    return picture;
  });
}

// The first run fills the cache.
template <class T> Cost cost_of(const Dataset<T>& data, std::int64_t elements, int rounds) {
  drain(data, elements);
  return cheapest_drain(data, elements, rounds);
}

void add_numbers(const char* variant, const Dataset<std::int64_t>& data, int rounds, Report& report) {
  const Cost cost = cost_of(data.batch(1000), kNumbers / 1000, rounds);
  report.add({"cached", variant, kNumbers, cost, {{"cpu_ns_each", ns_per(cost.cpu_s, kNumbers)}}, {}});
}

void add_pictures(const char* variant, const Dataset<Tensor>& data, int rounds, Report& report) {
  constexpr double kGigabyte = 1e9;
  const Cost cost = cost_of(data, kPictures, rounds);
  const double gigabytes = static_cast<double>(kPictures * kPictureBytes) / kGigabyte;
  report.add({"cached", variant, kPictures, cost, {{"gb_per_cpu_s", gigabytes / cost.cpu_s}}, {}});
}

}  // namespace

void run_cached(const CaseSettings& settings, Report& report) {
  const int rounds = settings.rounds_or(5);
  const TemporaryFile of_numbers("numbers"), of_pictures("pictures");
  add_numbers("numbers_made", numbers(), rounds, report);
  add_numbers("numbers_memory", numbers().cache(), rounds, report);
  add_numbers("numbers_file", numbers().cache(of_numbers.path()), rounds, report);
  add_numbers("numbers_loaded", load<std::int64_t>(of_numbers.path()), rounds, report);
  add_pictures("pictures_made", pictures(), rounds, report);
  add_pictures("pictures_memory", pictures().cache(), rounds, report);
  add_pictures("pictures_file", pictures().cache(of_pictures.path()), rounds, report);
  add_pictures("pictures_loaded", load<Tensor>(of_pictures.path()), rounds, report);
  const Saved<Tensor> saved(of_pictures.path());
  add_pictures("pictures_shuffled", saved.elements_at(range(kPictures).shuffle(kPictures, {.seed = 1})), rounds,
               report);
}

}  // namespace penstock::bench
