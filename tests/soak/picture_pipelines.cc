#include "tests/soak/picture_pipelines.h"

#include <penstock/imagenet.h>
#include <penstock/io.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "tests/support/random_graphs/comparison.h"
#include "tests/support/random_graphs/reading.h"

namespace soak {
namespace {

using penstock::test::Random;
using ps::imagenet::Example;
using random_graphs::Built;
using random_graphs::Coverage;
using random_graphs::Deliveries;
using random_graphs::Delivery;
using random_graphs::Failure;
using random_graphs::Reading;

using Pictures = ps::Batch<Example>;

constexpr int kFiles = 48;
constexpr int kBroken = 17;  // one file among them

std::int64_t sum_of(const ps::Tensor& tensor) {
  std::uint32_t sum = 0, word = 0;
  for (std::size_t at = 0; at + sizeof(word) <= tensor.bytes(); at += sizeof(word)) {
    std::memcpy(&word, reinterpret_cast<const std::byte*>(tensor.data()) + at, sizeof(word));
    sum = 31 * sum + word;
  }
  return sum;
}

// Pixels and labels as the values that tests of random graphs compare.
model::Value value_of(const Pictures& pictures) {
  std::vector<model::Value> values{model::number(sum_of(pictures.column<&Example::image>()))};
  for (const std::int32_t label : pictures.column<&Example::label>()) values.push_back(model::number(label));
  return model::list(std::move(values));
}

Built built_of(const ps::Dataset<Pictures>& pictures) {
  return {pictures.node(), [](ps::Element& element) { return value_of(element.take<Pictures>()); }};
}

std::vector<PicturePipeline> pipelines_over(const ps::pictures::SampleSet& files) {
  const ps::imagenet::Config config{.labels = ps::imagenet::labels_of(files.paths())};
  const auto shuffled = ps::from_vector(files.paths()).shuffle(kFiles, {.seed = 7});
  return {{"train", built_of(shuffled.apply(ps::imagenet::load_train(config)).batch(8).prefetch()), {}},
          {"boxes", built_of(shuffled.apply(ps::imagenet::load_crops(config)).unbatch().batch(8).prefetch()), {}}};
}

bool is_same(const Delivery& one, const Delivery& other) {
  return one.failed == other.failed && one.value == other.value && one.place.origin == other.place.origin &&
         one.cause == other.cause;
}

void check(const PicturePipeline& pipeline, std::uint32_t epoch, const Deliveries& got, bool to_the_end) {
  const Deliveries& expected = pipeline.expected.at(epoch);
  const std::string where = pipeline.name + ", epoch " + std::to_string(epoch) + ": ";
  if (got.size() > expected.size() || (to_the_end && got.size() < expected.size()))
    throw Failure(where + std::to_string(got.size()) + " deliveries of " + std::to_string(expected.size()));
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!is_same(got[i], expected[i]))
      throw Failure(where + "got " + random_graphs::text_of(got[i]) + ", expected " +
                    random_graphs::text_of(expected[i]));
}

}  // namespace

PicturePipelines::PicturePipelines() : files_(kFiles) {
  ps::pictures::SampleSet::write(files_.paths()[kBroken], "no picture");
  pipelines_ = pipelines_over(files_);
  Random random(0);
  Coverage none;
  for (PicturePipeline& pipeline : pipelines_)
    for (std::uint32_t epoch = 0; epoch < epochs; ++epoch)
      pipeline.expected[epoch] =
          Reading(random_graphs::serial_driver(), pipeline.built, {.first_epoch = epoch}, random, none).read_all();
}

void PicturePipelines::run_at_once() const {
  constexpr int calls = 64;
  std::atomic<int> here = 0;
  const auto load = [&](std::int64_t i) {
    const ps::Tensor file = ps::read_file(files_.paths()[static_cast<std::size_t>(i) % kBroken]);
    ++here;
    // For a while: which calls run at once is the engine's business.
    for (int patience = 0; here < calls && patience < 1000; ++patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ps::image::decode_jpeg(ps::image::bytes_of(file)).size();
  };
  auto run = ps::range(calls).map(load, calls, {.blocks = true}).start({.threads = 8, .open_io = calls});
  while (run.next()) {
  }
}

void run_some_epochs(const PicturePipeline& pipeline, random_graphs::Courier& courier, Random& random,
                     Coverage& coverage) {
  ps::RunOptions options = random_graphs::draw_options(random);
  options.epochs = random.one_in(2) ? PicturePipelines::epochs : 0;
  options.seed = 0;
  Reading reading(random_graphs::engine_driver(), pipeline.built, options, random, coverage);
  for (std::uint32_t epoch = 0; epoch < PicturePipelines::epochs; ++epoch) {
    if (epoch > 0) reading.begin_epoch(epoch);
    const bool to_the_end = random.one_in(2);
    const auto some = static_cast<std::size_t>(random.below(6));
    check(pipeline, epoch, to_the_end ? reading.read_all() : reading.read(some), to_the_end);
    if (random.one_in(4)) break;
  }
  reading.abandon(courier);
}

}  // namespace soak
