// The digest of the image path, whatever its knobs do meanwhile, and whoever moves them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "bench/imagenet/digest.h"
#include "bench/imagenet/pipeline.h"
#include "tests/support/environment.h"
#include "tests/support/fast_controller.h"
#include "tests/support/pictures/sample_set.h"
#include "tests/support/random.h"
#include "tests/support/shared_data.h"

namespace penstock::bench {
namespace {

ImagenetOptions options_of(const std::string& data, const std::string& annotations, const char* workload) {
  const std::array arguments{"penstock-imagenet", "--data", data.c_str(), "--annotations", annotations.c_str(),
                             "--batch",           "8",      "--workload", workload};
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), {"penstock-imagenet", ""}).options;
}

// A value that makes itself felt: few calls, small buffers, a budget of less than one picture among them.
std::int64_t draw(const Knob& knob, test::Random& random) {
  if (knob.name == "memory") return random.between(100'000, 100'000'000);
  return random.between(knob.low, std::min<std::int64_t>(knob.high, knob.name == "grain_ns" ? 1'000'000 : 20));
}

// Sets all knobs again and again, and counts.
template <class T>
void move_knobs(Run<T>& run, std::uint64_t seed, const std::stop_token& stop, std::atomic<std::int64_t>& moves) {
  test::Random random(seed);
  for (auto knobs = run.knobs(); !stop.stop_requested(); std::this_thread::yield()) {
    for (const Knob& knob : knobs) knob.set(draw(knob, random));
    moves += static_cast<std::int64_t>(knobs.size());
  }
}

// Digests of two epochs.
class TwoEpochs {
 public:
  explicit TwoEpochs(const ImagenetOptions& options)
      : batches_(
            make_pipeline(options, find_files(options), FileOrder::shuffled, std::make_shared<imagenet::Counters>())) {}

  std::array<std::string, 2> serially() const {
    auto run = batches_.start({.epochs = 2, .serial = true});
    return read(run, [] {});
  }
  std::array<std::string, 2> while_knobs_move(std::uint64_t seed) const {
    auto run = batches_.start({.threads = 4, .epochs = 2, .tune = seed % 2 == 0});
    std::atomic<std::int64_t> moves = 0;
    std::jthread mover([&](const std::stop_token& stop) { move_knobs(run, seed, stop, moves); });
    // On a busy machine the mover may get no time by itself.
    return read(run, [&] {
      while (moves < 100) std::this_thread::yield();
    });
  }
  std::array<std::string, 2> with_still_knobs(std::uint64_t seed) const {
    test::Random random(seed);
    auto run = batches_.start({.threads = 4, .epochs = 2, .tune = false});
    for (const Knob& knob : run.knobs()) knob.set(draw(knob, random));
    return read(run, [] {});
  }
  std::array<std::string, 2> while_tuned(std::int64_t& moves) const {
    auto run = batches_.start({.epochs = 2, .tune = false});
    test::FastController controller(run);
    const auto digests = read(run, [] {});
    moves += controller.moves();
    return digests;
  }

 private:
  // Calls `midway` behind the first batch.
  static std::array<std::string, 2> read(Run<SampleBatch>& run, const std::function<void()>& midway) {
    std::array<std::string, 2> digests;
    std::int64_t batches = 0;
    for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
      Digest digest;
      for (const SampleBatch& batch : run.epoch(epoch)) {
        digest.add(batch);
        if (epoch == 0 && batches++ == 0) midway();
      }
      digests[epoch] = digest.text();
    }
    return digests;
  }

  SampleBatches batches_;
};

void expect_same_digests(const std::string& data, const std::string& annotations, std::uint64_t runs) {
  for (const char* workload : {"boxes", "train", "eval"}) {
    const TwoEpochs epochs(options_of(data, annotations, workload));
    const auto expected = epochs.serially();
    EXPECT_NE(expected[0], expected[1]) << "another order each epoch";
    for (std::uint64_t seed = 0; seed < runs; ++seed)
      EXPECT_EQ(epochs.while_knobs_move(seed), expected) << workload << ", seed " << seed;
  }
}

// Of the serial run, of one whose knobs stay where chance has put them, and of one that the controller's policy tunes.
void expect_tuning_changes_no_digest(const std::string& data, const std::string& annotations) {
  for (const char* workload : {"boxes", "train", "eval"}) {
    const TwoEpochs epochs(options_of(data, annotations, workload));
    const auto expected = epochs.serially();
    std::int64_t moves = 0;
    EXPECT_EQ(epochs.with_still_knobs(1), expected) << workload;
    EXPECT_EQ(epochs.while_tuned(moves), expected) << workload;
    std::cout << workload << ": " << expected[0] << " and " << expected[1]
              << ", serial, with still knobs, and tuned by " << moves << " moves\n";
  }
}

TEST(Tuning, NeverChangesTheDigestOfGeneratedPictures) {
  const pictures::SampleSet set(40);
  expect_tuning_changes_no_digest(set.images(), (set.folder() / "Annotations").string());
}

TEST(Tuning, NeverChangesTheDigestOfRealPictures) {
  PENSTOCK_NEEDS_SHARED("data/imagenet");
  const auto data = test::shared_folder() / "data";
  expect_tuning_changes_no_digest((data / "imagenet").string(), (data / "imagenet-annotations").string());
}

TEST(MovingKnobs, DoNotChangeTheDigestOfGeneratedPictures) {
  const pictures::SampleSet set(40);
  expect_same_digests(set.images(), (set.folder() / "Annotations").string(), test::is_smallest() ? 2 : 8);
}

TEST(MovingKnobs, DoNotChangeTheDigestOfRealPictures) {
  PENSTOCK_NEEDS_SHARED("data/imagenet");
  const auto data = test::shared_folder() / "data";
  expect_same_digests((data / "imagenet").string(), (data / "imagenet-annotations").string(), 1);
}

}  // namespace
}  // namespace penstock::bench
