// A training loop to be killed: killed_loop_test.py.
//
//   killed_loop FILE EVERY EPOCHS      saves FILE behind every EVERY batches, and goes on from it; 0: never
//
// A line for each batch, at once: its epoch, its number there, and what it was. One that says why a checkpoint was not
// saved, where the disk has no room; the loop goes on.
#include <penstock/penstock.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace ps = penstock;

namespace {

using Values = std::vector<std::int64_t>;

Values copies(std::int64_t value) { return Values(static_cast<std::size_t>(value % 3), value); }

// By no position: some "files" in turn, some values whose number nobody tells, mixed, shuffled.
ps::Dataset<Values> make_pipeline() {
  const auto records = [](std::int64_t file) {
    return ps::range(100 * file, 100 * file + 40 + file).map(copies).unbatch();
  };
  const auto files = ps::range(10).shuffle(10, {.seed = 1}).interleave(records, {.cycle_length = 4, .block_length = 2});
  const auto others = ps::range(5'000, 5'400).map(copies).unbatch().shuffle(20, {.seed = 2});
  return ps::sample_from({files, others}, {.weights = {0.7, 0.3}, .seed = 3})
      .shuffle(50, {.seed = 4})
      .map([](std::int64_t value, ps::Context& context) { return value + context.rng().uniform(0L, 3L); })
      .batch(8);
}

void say(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(STDOUT_FILENO, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) std::terminate();
}

void save(const std::string& file, const ps::Run<Values>& run) try {
  ps::save_checkpoint(file, run);
} catch (const ps::Error& error) {
  say(std::string("not saved: ") + error.what());
}

void train(const std::string& file, std::int64_t every, std::uint32_t epochs) {
  const auto from = every > 0 ? ps::load_checkpoint(file) : nullptr;
  std::uint32_t epoch = from ? from->epoch : 0;
  std::int64_t number = from ? from->delivered : 0;
  auto run = make_pipeline().start({.epochs = epochs, .resume_from = from});
  for (; epoch < epochs; ++epoch, number = 0) {
    for (const Values& batch : run.epoch(epoch)) {
      std::uint64_t digest = 0;
      for (const std::int64_t value : batch) digest = ps::mix64(digest + static_cast<std::uint64_t>(value));
      say(std::to_string(epoch) + " " + std::to_string(number++) + " " + std::to_string(digest));
      if (every > 0 && number % every == 0) save(file, run);
    }
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 4) throw std::invalid_argument("usage: killed_loop FILE EVERY EPOCHS");
  train(arguments[1], std::stoll(arguments[2]), static_cast<std::uint32_t>(std::stoul(arguments[3])));
} catch (const std::exception& error) {
  std::cerr << "killed_loop: " << error.what() << '\n';
  return 1;
}
