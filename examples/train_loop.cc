// A training loop: epochs, bad input, a checkpoint in the middle of an epoch, a second run that
// goes on from it.
#include <penstock/penstock.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ps = penstock;

struct Example {
  ps::Tensor image;
  std::int32_t label = 0;
};

// Tells batch() the members: a batch has one contiguous column for each.
template <>
struct ps::Fields<Example> {
  static constexpr auto value = std::tuple{&Example::image, &Example::label};
};

namespace {

// In place of reading and decoding a file. context.rng() gives an element's own random numbers: new
// ones in each epoch, the same for any number of threads.
Example load(std::int64_t file, ps::Context& context) {
  if (file == 13) throw std::runtime_error("file 13 is damaged");
  Example example{ps::Tensor(ps::DType::u8, {2, 2, 3}), static_cast<std::int32_t>(file % 10)};
  ps::CounterRng rng = context.rng();
  for (std::uint8_t& value : example.image.values<std::uint8_t>()) {
    value = static_cast<std::uint8_t>(rng.uniform(0, 256));
  }
  return example;
}

ps::Dataset<ps::Batch<Example>> make_pipeline() {
  return ps::range(20).shuffle(20, {.seed = 7}).map(load).batch(8).prefetch();
}

// In place of a step of training: prints what it was given.
void step(const ps::Batch<Example>& batch) {
  const ps::Tensor& images = batch.column<&Example::image>();
  std::cout << "  images " << ps::to_string(images.shape()) << ", labels";
  for (std::int32_t label : batch.column<&Example::label>()) std::cout << ' ' << label;
  std::cout << '\n';
}

void print(const ps::RunStats& stats) {
  std::cout << "batches " << stats.delivered << ", files skipped " << stats.skipped << '\n';
}

// Two epochs, left in the middle of the second.
ps::Checkpoint train_until_interrupted() {
  auto run = make_pipeline().start({.epochs = 2, .on_error = ps::skip_up_to(5)});
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    std::cout << "epoch " << epoch << '\n';
    for (const auto& batch : run.epoch(epoch)) {
      step(batch);
      if (epoch == 1) break;
    }
  }
  print(run.stats());
  return run.checkpoint();
}

// The rest of the epoch that the checkpoint stands in: what the first run would have delivered
// next.
void train_on(const ps::Checkpoint& checkpoint) {
  auto run = make_pipeline().start(
      {.on_error = ps::skip_up_to(5), .resume_from = std::make_shared<ps::Checkpoint>(checkpoint)});
  std::cout << "epoch " << checkpoint.epoch << ", resumed\n";
  for (const auto& batch : run.epoch(checkpoint.epoch)) step(batch);
  print(run.stats());
}

}  // namespace

int main() { train_on(train_until_interrupted()); }

// Prints:
//   epoch 0
//     images [8, 2, 2, 3], labels 4 9 5 5 0 6 3 7
//     images [8, 2, 2, 3], labels 8 8 0 2 7 1 6 1
//     images [3, 2, 2, 3], labels 2 4 9
//   epoch 1
//     images [8, 2, 2, 3], labels 9 5 7 8 2 3 5 6
//   batches 4, files skipped 2
//   epoch 1, resumed
//     images [8, 2, 2, 3], labels 7 0 0 4 1 9 1 2
//     images [3, 2, 2, 3], labels 4 8 6
//   batches 2, files skipped 0
