// Training that survives its own death: a checkpoint on disk, and a second start that goes on from it.
//
//   resume FILE                      the first start kills itself in the middle of an epoch; start it again
//   resume FILE --uninterrupted      does not
//
// The checkpoint lies in FILE together with the weights, for one is worth nothing without the other. The batches after
// the last checkpoint are trained on again, from the weights that stood there: both runs together are one that was
// never interrupted.
#include <penstock/penstock.h>

#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ps = penstock;

namespace {

constexpr std::uint32_t epochs = 3;
constexpr std::int64_t batches_per_checkpoint = 3;

// Stands for a model: depends on every batch and on their order.
struct Weights {
  std::uint64_t value = 0;
  void step(const std::vector<double>& batch) {
    for (double element : batch) value = ps::mix64(value + static_cast<std::uint64_t>(element * 0x1p40));
  }
};

struct State {
  Weights weights;
  ps::Checkpoint position;
};

// Under another name first: who is killed meanwhile leaves the old file whole.
void save(const std::string& file, const State& state) {
  std::ofstream out(file + ".new", std::ios::binary);
  out << state.weights.value << '\n' << state.position.to_bytes();
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file + ".new");
  std::filesystem::rename(file + ".new", file);
}

State load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  State state;
  in >> state.weights.value;
  in.ignore();
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  state.position = ps::Checkpoint::from_bytes(bytes);  // refuses a damaged file
  return state;
}

// 13 batches an epoch, of ten "files" with ten records each, four of which are open at once. Both starts must build the
// same pipeline, so the shuffles have seeds. A checkpoint tells which files are open and how far each has been read,
// and which records the second shuffle holds; the random numbers go on as well.
ps::Dataset<std::vector<double>> make_pipeline() {
  const auto augment = [](std::int64_t element, ps::Context& context) {
    return static_cast<double>(element) + context.rng().uniform();
  };
  const auto records = [](std::int64_t file) { return ps::range(10 * file, 10 * file + 10); };
  return ps::range(10)
      .shuffle(10, {.seed = 7})
      .interleave(records, {.cycle_length = 4})
      .shuffle(20, {.seed = 8})
      .map(augment)
      .batch(8)
      .prefetch();
}

void train(const std::string& file, bool dies) {
  State state;
  std::uint32_t epoch = 0;
  std::int64_t done = 0;  // batches of this epoch
  ps::RunOptions options{.epochs = epochs};
  if (std::filesystem::exists(file)) {
    state = load(file);
    const ps::Checkpoint& position = state.position;
    epoch = position.epoch + (position.epoch_ended ? 1 : 0);
    done = position.epoch_ended ? 0 : position.delivered;
    dies = false;
    options.resume_from = std::make_shared<ps::Checkpoint>(position);
    std::cerr << "goes on in epoch " << epoch << " behind batch " << done << '\n';
  }
  auto run = make_pipeline().start(options);
  for (; epoch < epochs; ++epoch, done = 0) {
    for (const auto& batch : run.epoch(epoch)) {
      state.weights.step(batch);
      std::cout << "epoch " << epoch << " batch " << ++done << ": weights " << state.weights.value << std::endl;
      if (done % batches_per_checkpoint == 0) save(file, {state.weights, run.checkpoint()});
      if (dies && epoch == 1 && done == 8) std::raise(SIGKILL);
    }
    save(file, {state.weights, run.checkpoint()});
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool uninterrupted = arguments.size() == 2 && arguments[1] == "--uninterrupted";
  if (arguments.size() != (uninterrupted ? 2 : 1)) {
    std::cerr << "usage: resume FILE [--uninterrupted]\n";
    return 2;
  }
  train(arguments[0], !uninterrupted);
} catch (const std::exception& error) {
  std::cerr << "resume: " << error.what() << '\n';
  return 1;
}
