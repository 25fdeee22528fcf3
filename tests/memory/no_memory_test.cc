// Runs that find no memory: elements fail, or the run ends with an error that its consumer gets. The process goes on,
// and no run hangs.
//
// operator new fails when it is told to, but not on the test's own thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> until_refusal{kNever};  // allocations
std::atomic<std::int64_t> refusals{0};            // in a row, from then on
thread_local bool is_spared = false;

bool refuses() noexcept {
  if (is_spared || until_refusal.load(std::memory_order_relaxed) == kNever) return false;
  return until_refusal.fetch_sub(1) <= 0 && refusals.fetch_sub(1) > 0;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (refuses()) throw std::bad_alloc();
  void* const block = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

// GCC looks into both of a pair.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

namespace penstock {
namespace {

using Numbers = std::vector<std::int64_t>;
using NumbersRun = Run<std::int64_t>;  // inside a test, Run is a member of ::testing::Test

struct Outcome {
  Numbers elements;
  std::int64_t errors = 0;
  bool ended = false;  // before its time, by an error of the run
};

// Refuses memory while it lives.
class Shortage {
 public:
  Shortage(std::int64_t after, std::int64_t count) {
    refusals = count;
    until_refusal = after;
  }
  ~Shortage() { until_refusal = kNever; }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
};

Outcome read(const Dataset<std::int64_t>& data, std::int64_t after, std::int64_t count) {
  Outcome outcome;
  is_spared = true;
  auto run = data.start({.threads = 3, .memory_bytes = 64 * MiB});
  const Shortage shortage(after, count);
  for (bool more = true; more && !outcome.ended;) {
    try {
      const auto element = run.next();
      more = element.has_value();
      if (more) outcome.elements.push_back(*element);
    } catch (const ElementError&) {
      ++outcome.errors;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::resource_exhausted) << error.what();
      outcome.ended = true;
    } catch (const std::bad_alloc&) {  // an error that found no memory for its place
      ++outcome.errors;
    }
  }
  return outcome;
}

std::int64_t length(const std::string& text) { return static_cast<std::int64_t>(text.size()); }
std::string text_of(std::int64_t value) { return std::string(static_cast<std::size_t>(100 + value), 'x'); }

constexpr std::int64_t kElements = 500;
constexpr std::int64_t kSteps = 200;  // how far into a run it comes

TEST(NoMemory, ForOneAllocationOfAMapCostsAnElementOrTheRun) {
  for (std::int64_t after = 0; after < kSteps; ++after) {
    const Outcome outcome = read(range(kElements).map(text_of).map(length), after, 1);
    for (std::size_t i = 1; i < outcome.elements.size(); ++i)
      ASSERT_LT(outcome.elements[i - 1], outcome.elements[i]) << after;
    const auto told = static_cast<std::int64_t>(outcome.elements.size()) + outcome.errors;
    EXPECT_TRUE(outcome.ended || told == kElements) << after << ": " << told;
  }
}

TEST(NoMemory, FromSomeMomentOnEndsARun) {
  for (std::int64_t after = 0; after < kSteps; ++after) {
    const Outcome outcome = read(range(kElements).map(text_of).map(length), after, kNever);
    EXPECT_LE(static_cast<std::int64_t>(outcome.elements.size()) + outcome.errors, kElements) << after;
  }
}

TEST(NoMemory, ForListsCostsTheirElementsOrTheRun) {
  const auto list = [](std::int64_t value) { return Numbers(static_cast<std::size_t>(value % 50), value); };
  for (const std::int64_t count : {std::int64_t{1}, kNever}) {
    for (std::int64_t after = 0; after < kSteps; ++after) {
      const Outcome outcome = read(range(kElements).flat_map(list), after, count);
      for (std::size_t i = 1; i < outcome.elements.size(); ++i)
        ASSERT_LE(outcome.elements[i - 1], outcome.elements[i]) << after;
    }
  }
}

TEST(NoMemory, ForAShuffleCostsItsElementsOrTheRun) {
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{20}, kNever}) {
    for (std::int64_t after = 0; after < kSteps; ++after) {
      const auto numbers = from_generator(
          [i = std::int64_t{0}]() mutable { return i < 4 * kElements ? std::optional(i++) : std::nullopt; });
      Outcome outcome = read(numbers.shuffle(4 * kElements, {.seed = 1}), after, count);
      std::ranges::sort(outcome.elements);
      EXPECT_EQ(std::ranges::adjacent_find(outcome.elements), outcome.elements.end()) << after;
    }
  }
}

TEST(NoMemory, ForBlockingCallsAndBatchesCostsElementsOrTheRun) {
  const auto size = [](const Batch<std::string>& batch) { return static_cast<std::int64_t>(batch.size()); };
  for (const std::int64_t count : {std::int64_t{1}, kNever}) {
    for (std::int64_t after = 0; after < kSteps; ++after) {
      read(range(kElements).map(text_of, {.blocks = true}).batch(7).map(size).take(50), after, count);
    }
  }
}

// Whoever reads them is on a thread that has no memory either.
TEST(NoMemory, ForRunsInsideCallsCostsElementsOrTheRun) {
  const auto inner = [](std::int64_t value) { return range(3).map([value](std::int64_t i) { return value + i; }); };
  const auto sum = [inner](std::int64_t value) {
    auto run = inner(value).start();
    std::int64_t total = 0;
    while (const auto element = run.next()) total += *element;
    return total;
  };
  for (const std::int64_t count : {std::int64_t{1}, kNever}) {
    for (std::int64_t after = 0; after < kSteps; ++after) {
      const Outcome sums = read(range(50).map(sum, {.blocks = true}), after, count);
      for (std::size_t i = 1; i < sums.elements.size(); ++i) ASSERT_LT(sums.elements[i - 1], sums.elements[i]) << after;
      read(range(50).flat_map(inner), after, count);
    }
  }
}

// Some elements are read, and from then on nobody finds memory, not even whoever destroys the run.
template <class T> void end_without_memory(const Dataset<T>& data, const RunOptions& options, int elements = 5) {
  is_spared = true;
  auto run = std::make_optional(data.start(options));
  for (int i = 0; i < elements; ++i) run->next();
  is_spared = false;
  {
    const Shortage shortage(0, kNever);
    run.reset();
  }
  is_spared = true;
}

template <class T> void read_whatever_fails(const Dataset<T>& data) {
  auto run = data.start({.threads = 2});
  for (int i = 0; i < 3; ++i) {
    try {
      run.next();
    } catch (const std::exception&) {  // it finds no memory either
    }
  }
}

// On threads, on the consumer's alone, and inside a call of another run.
template <class T> void end_everywhere_without_memory(const Dataset<T>& data) {
  end_without_memory(data, {.threads = 3});
  read_whatever_fails(range(3).map([&data](std::int64_t value) {
    end_without_memory(data, {});
    return value;
  }));
}

TEST(NoMemory, IsNotNeededToEndARun) {
  const auto numbers = range(2'000);
  const auto list = [](std::int64_t value) { return Numbers(static_cast<std::size_t>(value % 50), value); };
  end_everywhere_without_memory(numbers.map(text_of));
  end_everywhere_without_memory(numbers.map(text_of, {.blocks = true}).batch(7));
  end_everywhere_without_memory(numbers.shuffle(100, {.seed = 1}).repeat().flat_map(list));
  end_everywhere_without_memory(numbers.map(text_of).prefetch(10));
}

TEST(NoMemory, IsNotNeededToEndARunOfSeveralInputs) {
  const auto texts = range(2'000).map(text_of);
  end_everywhere_without_memory(zip(texts, range(2'000)));
  end_everywhere_without_memory(texts.concatenate(texts.shuffle(50, {.seed = 1})));
}

TEST(NoMemory, LeavesATraceUnwrittenAndSaysSo) {
  ::testing::internal::CaptureStderr();
  end_without_memory(range(2'000).map(text_of), {.threads = 2, .trace = ::testing::TempDir() + "no_memory_trace.json"});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("there is no memory to write the trace of a run"));
}

TEST(NoMemory, LeavesATraceOfNothingUnwrittenAndSaysSo) {
  ::testing::internal::CaptureStderr();
  end_without_memory(range(3), {.trace = ::testing::TempDir() + "no_memory_trace.json"}, 0);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("there is no memory to write the trace of a run"));
}

// Its engine is taken down by another thread, which finds memory some time.
TEST(NoMemory, IsNotNeededToEndARunInsideOneOfItsOwnCalls) {
  std::optional<NumbersRun> run;
  std::atomic<bool> may_go_on{false}, is_gone{false};
  const auto destroy = [&](std::int64_t value) {
    while (!may_go_on) std::this_thread::yield();
    if (value > 0) return value;
    {
      const Shortage shortage(0, kNever);
      run.reset();
    }
    is_gone = true;
    return value;
  };
  run = range(9).map(destroy).start({.threads = 2});
  EXPECT_TRUE(run->next_for(std::chrono::milliseconds(1)).timed_out());
  may_go_on = true;
  while (!is_gone) std::this_thread::yield();
}

// Answers the first elements, and keeps what would answer the others.
class AnswersOnlyTheFirst final : public ElementwiseOp {
 public:
  std::string name() const override { return "answers_only_the_first"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  void start(Element value, Context&, Completion completion) const override {
    if (value.get<std::int64_t>() < 5) return completion.complete(std::move(value));
    const std::lock_guard lock(mutex_);
    open_.push_back(std::move(completion));
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<Completion> open_;
};

TEST(NoMemory, IsNotNeededToEndARunWhoseAnswersAreOut) {
  end_everywhere_without_memory(range(2'000).then<std::int64_t>(std::make_shared<AnswersOnlyTheFirst>()));
}

}  // namespace
}  // namespace penstock
