// A training loop, whole: pictures in ILSVRC's layout, a small model, SGD.
//
//   train_loop FOLDER [--shuffle-labels]
//
// Prints for each epoch the mean loss, pictures per second, and the share of the time that the loop waited for data.
// With --shuffle-labels each picture gets the label of another one. Then there is nothing to learn, and the loss must
// not fall: if it does, the loop cheats.
#include <penstock/imagenet.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iomanip>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ps = penstock;

namespace {

using ps::imagenet::Example;

constexpr std::int64_t side = 8;  // pictures are seen as 8 x 8 pixels of three colours
constexpr std::size_t features = side * side * 3;
constexpr std::uint32_t epochs = 10;

// Softmax regression: one row of weights for each class.
class Model {
 public:
  explicit Model(std::size_t classes) : classes_(classes), weights_(classes * features) {}

  // One step of SGD on a batch. Returns the sum of its losses before the step.
  double step(std::span<const float> pictures, std::span<const std::int32_t> labels) {
    std::vector<float> gradient(weights_.size());
    double loss = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto picture = pictures.subspan(i * features, features);
      auto error = probabilities(picture);
      float& right = error[static_cast<std::size_t>(labels[i])];
      loss -= std::log(right);
      right -= 1;
      for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] += error[k / features] * picture[k % features];
    }
    const float rate = 0.003F / static_cast<float>(labels.size());
    for (std::size_t k = 0; k < gradient.size(); ++k) weights_[k] -= rate * gradient[k];
    return loss;
  }

 private:
  std::vector<float> probabilities(std::span<const float> picture) const {
    std::vector<float> p(classes_);
    for (std::size_t k = 0; k < weights_.size(); ++k) p[k / features] += weights_[k] * picture[k % features];
    const float largest = *std::max_element(p.begin(), p.end());
    float sum = 0;
    for (float& value : p) sum += value = std::exp(value - largest);
    for (float& value : p) value /= sum;
    return p;
  }

  std::size_t classes_;
  std::vector<float> weights_;
};

// The labels of all files, each at the place of another file.
std::vector<std::int32_t> shuffled_labels(const std::vector<std::string>& paths, const ps::LabelTable& table) {
  std::vector<std::int32_t> labels;
  for (const std::string& path : paths) labels.push_back(table.id(ps::label_of_file(path)));
  std::shuffle(labels.begin(), labels.end(), ps::make_rng(7, 0, 0, 0));
  return labels;
}

ps::Dataset<ps::Batch<Example>> make_pipeline(const std::vector<std::string>& paths, const ps::LabelTable& table,
                                              bool shuffle_labels) {
  auto pictures = ps::from_vector(paths)
                      .shuffle(2'000'000, {.seed = 7})
                      .apply(ps::imagenet::load_train({.labels = table, .size = {side, side}}));
  if (shuffle_labels) {
    pictures = pictures.map([labels = shuffled_labels(paths, table)](Example example) {
      example.label = labels[static_cast<std::size_t>(example.file)];
      return example;
    });
  }
  return pictures.batch(16).prefetch();
}

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

void train(const ps::Dataset<ps::Batch<Example>>& batches, std::size_t classes) {
  Model model(classes);
  auto run = batches.start({.epochs = epochs, .on_error = ps::skip_up_to(100)});
  ps::Snapshot before = run.snapshot();
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    double loss = 0;
    double pictures = 0;
    for (const auto& batch : run.epoch(epoch)) {
      loss += model.step(batch.column<&Example::image>().values<float>(), batch.column<&Example::label>());
      pictures += static_cast<double>(batch.size());
    }
    const ps::Snapshot now = run.snapshot();
    const double took = seconds(now.time_ns - before.time_ns);
    const double waited = seconds(now.consumer.wait_ns - before.consumer.wait_ns);
    std::cout << "epoch " << epoch << ": loss " << loss / pictures << ", " << pictures / took
              << " pictures/s, waited for data " << 100 * waited / took << " %\n";
    before = now;
  }
  std::cout << "files skipped: " << run.stats().skipped << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool shuffle_labels = arguments.size() == 2 && arguments[1] == "--shuffle-labels";
  if (arguments.size() != (shuffle_labels ? 2 : 1)) {
    std::cerr << "usage: train_loop FOLDER [--shuffle-labels]\n";
    return 2;
  }
  const auto paths = ps::imagenet::list_images(arguments[0]);
  const auto table = ps::imagenet::labels_of(paths);
  std::cout << std::fixed << std::setprecision(3);
  train(make_pipeline(paths, table, shuffle_labels), static_cast<std::size_t>(table.size()));
} catch (const std::exception& error) {
  std::cerr << "train_loop: " << error.what() << '\n';
  return 1;
}
