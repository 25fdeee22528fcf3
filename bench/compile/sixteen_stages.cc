// A user's file as large as they come: sixteen ops behind the source, most with a function and a type of their own, and
// the loop over it. ./run measures what it costs to compile.
#include <penstock/io.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ps = penstock;

struct File {
  std::string path;
  ps::Tensor bytes;
};

struct Record {
  std::vector<std::uint8_t> values;
  std::int64_t key = 0;
};

struct Example {
  ps::Tensor features;
  std::int32_t label = 0;
};

template <> struct ps::Fields<Example> {
  static constexpr auto value = std::tuple{&Example::features, &Example::label};
};

static File load(const std::string& path) { return {path, ps::read_file(path)}; }

static std::vector<Record> split(const File& file) {
  const auto bytes = file.bytes.values<std::uint8_t>();
  std::vector<Record> records;
  for (std::size_t at = 0; at + 64 <= bytes.size(); at += 64) {
    const auto part = bytes.subspan(at, 64);
    records.push_back({{part.begin(), part.end()}, static_cast<std::int64_t>(at)});
  }
  return records;
}

static Example example_of(const Record& record) {
  ps::Tensor features(ps::DType::f32, {static_cast<std::int64_t>(record.values.size())});
  std::copy(record.values.begin(), record.values.end(), features.values<float>().begin());
  return {std::move(features), static_cast<std::int32_t>(record.key % 10)};
}

static void add_noise(Example& example, ps::CounterRng rng) {
  for (float& value : example.features.values<float>()) value += rng.uniform(-0.1F, 0.1F);
}

static auto pipeline(const std::string& list) {
  return ps::from_file_list(list)
      .shuffle(1'000'000, {.seed = 7})                                          // 1
      .shard(ps::World::detect())                                               // 2
      .filter([](const std::string& path) { return path.ends_with(".bin"); })   // 3
      .map(load, ps::AUTOTUNE, {.blocks = true})                                // 4
      .filter([](const File& file) { return file.bytes.size() >= 64; })         // 5
      .ignore_errors()                                                          // 6
      .flat_map(split)                                                          // 7
      .filter([](const Record& record) { return record.values.front() != 0; })  // 8
      .map([](Record record) {                                                  // 9
        std::reverse(record.values.begin(), record.values.end());
        return record;
      })
      .shuffle(1000)                                    // 10
      .map(example_of)                                  // 11
      .map([](Example example, ps::Context& context) {  // 12
        add_noise(example, context.rng());
        return example;
      })
      .take(1'000'000)                       // 13
      .batch(128, {.drop_remainder = true})  // 14
      .map([](ps::Batch<Example> batch) {    // 15
        for (std::int32_t& label : batch.column<&Example::label>()) label = 9 - label;
        return batch;
      })
      .prefetch();  // 16
}

int main(int argc, char** argv) {
  const auto train = pipeline(argc > 1 ? argv[1] : "train.txt");
  std::cout << ps::describe(train);
  auto run = train.start({.epochs = 2, .on_error = ps::skip_up_to(10)});
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch)
    for (auto&& batch : run.epoch(epoch)) std::cout << batch.size() << " examples\n";
  std::cout << run.stats().errors << " errors\n";
}
