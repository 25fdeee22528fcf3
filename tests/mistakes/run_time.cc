// Mistakes that show when a program runs, each as a user makes it: `run_time NAME` makes one, `run_time` lists their
// names. run_time.golden.txt has what is said.
#include <penstock/imagenet.h>
#include <penstock/io.h>
#include <penstock/penstock.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ps = penstock;

namespace {

template <class T> void read(const ps::Dataset<T>& data, const ps::RunOptions& options = {}) {
  auto run = data.start(options);
  while (run.next()) {
  }
  std::cout << "no error\n";
}

ps::Tensor megabytes(std::int64_t count) { return {ps::DType::u8, {count << 20}}; }

// A checkpoint of a dataset without a seed, taken to another one of the same lines.
template <class Make> void resume_without_seed(Make make) {
  auto run = make().start();
  run.next();
  auto place = std::make_shared<ps::Checkpoint>(ps::Checkpoint::from_bytes(run.checkpoint().to_bytes()));
  make().start({.resume_from = place}).next();
}

// A second consumer comes while the first one waits in next().
void ask_in_two_threads() {
  std::promise<void> go;
  std::promise<void> inside;
  auto run = ps::range(3)
                 .map(
                     [&, there = go.get_future().share()](std::int64_t x) {
                       if (x == 0) inside.set_value();
                       there.wait();
                       return x;
                     },
                     {.parallelism = 1, .blocks = true})
                 .start();
  std::jthread first([&] { run.next(); });
  inside.get_future().wait();
  while (!run.snapshot().consumer.waiting) std::this_thread::yield();
  try {
    run.next();
  } catch (const ps::Error& error) {
    std::cout << "what: " << error.what() << '\n';
  }
  go.set_value();
}

const std::map<std::string, std::function<void()>> mistakes{
    {"throw",
     [] {
       read(ps::range(10).map([](std::int64_t x) { return x == 3 ? throw std::runtime_error("oops") : x; }).batch(4));
     }},
    {"throw_int", [] { read(ps::range(3).map([](std::int64_t x) { return x == 1 ? throw 42 : x; })); }},
    {"throw_in_filter",
     [] {
       read(ps::range(3).filter([](std::int64_t x) { return x == 1 ? throw std::logic_error("odd") : true; },
                                {.name = "sound"}));
     }},
    {"missing_list", [] { ps::from_file_list("/nowhere/train.txt"); }},
    {"missing_folder", [] { ps::imagenet::list_images("/nowhere"); }},
    {"missing_file",
     [] {
       read(
           ps::from_vector<std::string>({"/nowhere/a.jpg"}).map([](const std::string& p) { return ps::read_file(p); }));
     }},
    {"missing_file_named",
     [] {
       read(ps::from_vector<std::string>({"/nowhere/a.jpg"})
                .map([](const std::string& p) { return ps::read_file(p); }, {.blocks = true, .name = "read"}));
     }},
    {"batch_zero", [] { ps::range(10).batch(0); }},
    {"batch_negative", [] { ps::range(10).batch(-4, {.drop_remainder = true}); }},
    {"huge_batch",
     [] {
       auto run = ps::range(10).map([](std::int64_t) { return megabytes(1); }).batch(1'000'000'000'000).start();
       std::cout << ps::to_string(run.next().value().shape()) << '\n';
     }},
    {"parallelism_negative", [] { ps::range(10).map([](std::int64_t x) { return x; }, -1); }},
    {"parallelism_zero", [] { ps::range(10).filter([](std::int64_t x) { return x > 3; }, {.parallelism = 0}); }},
    {"parallelism_twice", [] { ps::range(10).map([](std::int64_t x) { return x; }, 4, {.parallelism = 8}); }},
    {"prefetch_negative", [] { ps::range(10).prefetch(-1); }},
    {"shuffle_zero", [] { ps::range(3).shuffle(0); }},
    {"threads_negative", [] { read(ps::range(10), {.threads = -1}); }},
    {"unseeded_shard", [] { ps::range(10).shuffle(10).shard(2, 0); }},
    {"shard_outside", [] { ps::range(10).shard(2, 2); }},
    {"world_shard_behind_filter",
     [] { ps::range(30).filter([](std::int64_t x) { return x % 2 != 0; }).shard(ps::World{.size = 2, .rank = 0}); }},
    {"resume_without_seed", [] { resume_without_seed([] { return ps::range(100).shuffle(100).batch(4); }); }},
    {"resume_under_another_name",
     [] {
       int times = 0;
       resume_without_seed([&] {
         return ps::range(9).map([](std::int64_t x) { return x; }, {.name = times++ == 0 ? "read" : "load"});
       });
     }},
    {"shapes_differ",
     [] { read(ps::range(3).map([](std::int64_t x) { return ps::Tensor(ps::DType::f32, {x + 1}); }).batch(3)); }},
    {"types_differ",
     [] {
       read(ps::range(3)
                .map([](std::int64_t x) { return ps::Tensor(x == 0 ? ps::DType::f32 : ps::DType::i32, {2}); })
                .batch(3));
     }},
    {"values_as_float",
     [] {
       read(ps::range(3).map([](std::int64_t x) { return ps::Tensor(ps::DType::u8, {x + 1}).values<float>()[0]; }));
     }},
    {"values_as_u8",
     [] {
       read(ps::range(3).map(
           [](std::int64_t x) { return ps::Tensor(ps::DType::bf16, {x + 1}).values<std::uint8_t>()[0]; }));
     }},
    {"then_wrong_type", [] { read(ps::range(3).then<std::string>(ps::ops::take(2))); }},
    {"then_wrong_type_of_one_size", [] { read(ps::range(3).then<double>(ps::ops::ignore_errors())); }},
    {"from_indexed_wrong_type",
     [] {
       struct Words final : ps::IndexedSource {
         std::int64_t size() const override { return 2; }
         ps::Element at(std::int64_t) const override { return ps::Element(std::string("tea")); }
       };
       read(ps::from_indexed<std::int64_t>(std::make_shared<Words>(), "words"));
     }},
    {"memory_too_small",
     [] {
       auto run =
           ps::range(16).map([](std::int64_t) { return megabytes(20); }).batch(8).start({.memory_bytes = 64 * ps::MiB});
       run.next();
       std::this_thread::sleep_for(std::chrono::seconds(2));  // it is looked at ten times a second
     }},
    {"nested_loop",
     [] {
       const auto data = ps::range(2);
       for (auto a : data)
         for (auto b : data) std::cout << a << b << ' ';
       std::cout << '\n';
     }},
    {"no_labels", [] { ps::from_vector<std::string>({"a/b.JPEG"}).apply(ps::imagenet::load_train({})); }},
    {"unknown_label",
     [] {
       std::ofstream("a.JPEG") << "none";
       read(ps::from_vector<std::string>({"a.JPEG"})
                .apply(ps::imagenet::load_train({.labels = ps::LabelTable::from_names({"cat"})})));
     }},
    {"empty_vector_for_ever", [] { read(ps::from_vector(std::vector<std::string>{}).repeat().batch(4)); }},
    {"nothing_passes_the_filter", [] { read(ps::range(1000).filter([](std::int64_t) { return false; }).repeat()); }},
    {"next_in_two_threads", ask_in_two_threads},
    {"next_in_own_function",
     [] {
       std::unique_ptr<ps::Run<std::int64_t>> run;
       run = std::make_unique<ps::Run<std::int64_t>>(
           ps::range(3).map([&](std::int64_t) { return run->next().value(); }).start());
       run->next();
     }},
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 2) mistakes.at(argv[1])();
  for (const auto& [name, make] : mistakes)
    if (argc == 1) std::cout << name << '\n';
} catch (const std::exception& error) {
  std::cout << "what: " << error.what() << '\n';
}
