// Elements of some bytes, a million at once: what surrounds them is then most of what a run holds, and has to be on its
// books. Random graphs, each in a process of its own, by the system's word.
#include <gtest/gtest.h>
#include <penstock/penstock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/memory/resident.h"
#include "tests/support/random.h"

namespace memory_stress {
namespace {

namespace ps = penstock;
using penstock::test::Random;

constexpr std::int64_t kBudget = 64 << 20;
constexpr std::int64_t kMostElements = 4'000'000;
constexpr std::int64_t kPlaceInAShuffle = 64;  // with the bytes of a number; longer values come on top

// What elements are: each kind is made of a number, and says what it holds beyond the 32 bytes that every element has
// room for.
struct Number {
  using Type = std::int64_t;
  static Type of(std::int64_t i) { return i; }
  static constexpr std::int64_t extra = 8;
};
struct Pair {
  using Type = std::pair<std::int64_t, std::int64_t>;
  static Type of(std::int64_t i) { return {i, -i}; }
  static constexpr std::int64_t extra = 16;
};
struct Text {
  using Type = std::string;
  static Type of(std::int64_t i) { return std::to_string(i); }
  static constexpr std::int64_t extra = 32;
};
struct LongText {
  using Type = std::string;
  static Type of(std::int64_t i) { return std::string(60, static_cast<char>('a' + i % 26)); }
  static constexpr std::int64_t extra = 112;  // 32, and a block of 80 for 61
};

struct Drawn {
  std::string text;
  std::int64_t elements = 0;
  std::int64_t held = 0;  // bytes that ops must hold at once, as they declare
};

template <class Kind> class SmallGraph {
 public:
  using T = typename Kind::Type;

  explicit SmallGraph(std::uint64_t seed) : random_(seed), data_(source()) {
    for (std::int64_t ops = random_.between(1, 4); ops > 0; --ops) add_op();
  }

  const Drawn& drawn() const { return drawn_; }
  ps::Dataset<T> data() const { return data_; }
  int threads() { return random_.pick(std::vector<int>{0, 1, 2, 8}); }

 private:
  static constexpr std::int64_t kEach = Kind::extra;

  // Wide lists of few inputs, narrow ones of many, or none at all.
  ps::Dataset<T> source() {
    const std::int64_t width = random_.pick(std::vector<std::int64_t>{1, 10, 1'000, 100'000, 1'000'000});
    const std::int64_t most = width < 100'000 ? kMostElements : 4 * kMostElements;
    const std::int64_t inputs = random_.between(most / 4, most) / width;
    const auto list = [width](std::int64_t i) {
      std::vector<T> values;
      values.reserve(static_cast<std::size_t>(width));
      for (std::int64_t k = 0; k < width; ++k) values.push_back(Kind::of(i + k));
      return values;
    };
    drawn_.elements = inputs * width;
    drawn_.text = std::to_string(inputs) + " x " + std::to_string(width);
    const std::int64_t calls = random_.pick(std::vector<std::int64_t>{1, 2, 8});
    if (width > 1) drawn_.held += width * static_cast<std::int64_t>(sizeof(T) + (kEach > 32 ? kEach : 0));
    if (width == 1) return ps::range(inputs).map(&Kind::of);
    if (random_.one_in(2)) return ps::range(inputs).map(list, calls).unbatch();
    return ps::range(inputs).flat_map(list, calls);
  }

  void add_op() {
    switch (random_.below(5)) {
      case 0: return add_shuffle();
      case 1: return add_batches();
      case 2:
        data_ = data_.filter([](const T& value) { return value == value; });
        drawn_.text += " filter";
        return;
      case 3:
        data_ = data_.prefetch(random_.between(1, 1000));
        drawn_.text += " prefetch";
        return;
      default: data_ = data_.map([](T value) { return value; }, 8); drawn_.text += " map";
    }
  }

  void add_shuffle() {
    const std::int64_t window = random_.pick(std::vector<std::int64_t>{10, 10'000, 500'000});
    data_ = data_.shuffle(window, {.seed = 7});
    drawn_.held += std::min(window, drawn_.elements) * (kPlaceInAShuffle + kEach);
    drawn_.text += " shuffle " + std::to_string(window);
  }

  void add_batches() {
    const std::int64_t size = random_.pick(std::vector<std::int64_t>{7, 1'000, 200'000});
    const auto rows = [](const std::vector<T>& batch) { return batch; };
    data_ = data_.batch(size)
                .map([](const ps::Batch<T>& batch) { return std::vector<T>(batch.begin(), batch.end()); })
                .flat_map(rows);
    drawn_.held +=
        4 * std::min(size, drawn_.elements) * static_cast<std::int64_t>(sizeof(T) + (kEach > 32 ? kEach : 0));
    drawn_.text += " batch " + std::to_string(size);
  }

  Random random_;
  Drawn drawn_;
  ps::Dataset<T> data_;
};

// By how much resident memory grew, over 1.25 x what it may, with 32 MB beside it: exit status 0, or 1 with a line that
// says what it was.
template <class Kind> int run_alone(std::uint64_t seed) {
  SmallGraph<Kind> graph(seed);
  const int threads = graph.threads();
  reset_peak();
  const std::int64_t before = status_bytes("VmRSS");
  auto run = graph.data().start({.threads = threads, .memory_bytes = kBudget});
  std::int64_t count = 0;
  while (run.next()) ++count;
  const std::int64_t grown = status_bytes("VmHWM") - before;
  const std::int64_t may = std::max(kBudget, graph.drawn().held);
  const bool is_good =
      count == graph.drawn().elements && static_cast<double>(grown) <= 1.25 * static_cast<double>(may) + 32e6;
  if (!is_good || std::getenv("PENSTOCK_VERBOSE") != nullptr) {
    std::cout << "graph " << seed << ", threads " << threads << ": " << graph.drawn().text << ": " << count << " of "
              << graph.drawn().elements << " elements, grown by " << grown / 1'000'000 << " MB, books "
              << run.stats().memory_peak / 1'000'000 << " MB, must hold " << graph.drawn().held / 1'000'000 << " MB\n"
              << std::flush;
  }
  return is_good ? 0 : 1;
}

int run_graph(std::uint64_t seed) {
  switch (seed % 4) {
    case 0: return run_alone<Number>(seed);
    case 1: return run_alone<Pair>(seed);
    case 2: return run_alone<Text>(seed);
    default: return run_alone<LongText>(seed);
  }
}

// In a process that has allocated nothing before: what one graph leaves in the heap would hide what the next one takes.
bool stays_within(std::uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(run_graph(seed));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(SmallElements, AreWithinTheBudgetWithAllThatSurroundsThem) {
  const std::uint64_t graphs = std::getenv("PENSTOCK_FULL") != nullptr ? 1000 : 20;
  for (std::uint64_t seed = 1; seed <= graphs; ++seed) EXPECT_TRUE(stays_within(seed)) << "graph " << seed;
}

}  // namespace
}  // namespace memory_stress
