// Bodies that wait: a blocking function found without a hint, and ops that start now and complete later.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// -------------------------------------------------------------------------------- blocking, found

TEST(BlockingStage, IsFoundWithoutAHint) {
  CallCounter counter;
  auto run = range(1'000'000).map(counted_sleep(counter, 5ms)).start();
  EXPECT_TRUE(eventually([&] {
    run.next();
    return run.snapshot().stages[1].on_pool;
  }));
}

TEST(BlockingStage, FoundWithoutAHintGetsMoreCallsThanThereAreThreads) {
  CallCounter counter;
  auto run = range(1'000'000).map(counted_sleep(counter, 5ms)).start({.threads = 2});
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 100; ++i) run.next();  // a consumer that does nothing but wait
    return counter.most() >= 32;
  }));
}

TEST(BlockingStage, SaidToComputeStaysWithTheWorkers) {
  CallCounter counter;
  auto run = range(100).map(counted_sleep(counter, 2ms), AUTOTUNE, {.blocks = false}).start({.threads = 2});
  EXPECT_EQ(rest_of(run), numbers(0, 100));
  EXPECT_FALSE(run.snapshot().stages[1].on_pool);
}

TEST(BlockingStage, KeepsToTheLimitOfOpenCalls) {
  CallCounter counter;
  auto run = range(400).map(counted_sleep(counter, 2ms), AUTOTUNE, {.blocks = true}).start({.open_io = 6});
  EXPECT_EQ(rest_of(run), numbers(0, 400));
  EXPECT_LE(counter.most(), 6);
}

TEST(BlockingStage, LeavesTheWorkersToOthers) {
  CallCounter computed;
  std::atomic<bool> open{false};
  auto run = range(64)
                 .map(
                     [&](std::int64_t value) {
                       do std::this_thread::sleep_for(1ms);
                       while (value >= 8 && !open);
                       return value;
                     },
                     16, {.blocks = true})
                 .map(counted_sleep(computed, 0us))
                 .start({.threads = 1, .tune = false});
  for (std::int64_t i = 0; i < 8; ++i) ASSERT_EQ(run.next(), i);
  open = true;
  EXPECT_EQ(rest_of(run), numbers(8, 64));
}

// -------------------------------------------------------------------------------- complete later

// What a device would be: it keeps what it is given until told what to do.
class Desk {
 public:
  struct Letter {
    std::int64_t value;
    Completion completion;
  };

  void put(Letter letter) {
    std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  std::optional<Letter> take_newest() {
    std::lock_guard lock(mutex_);
    if (letters_.empty()) return std::nullopt;
    std::optional<Letter> letter(std::move(letters_.back()));
    letters_.pop_back();
    return letter;
  }
  std::size_t size() {
    std::lock_guard lock(mutex_);
    return letters_.size();
  }

 private:
  std::mutex mutex_;
  std::deque<Letter> letters_;
};

class PostOp final : public ElementwiseOp {
 public:
  explicit PostOp(std::shared_ptr<Desk> desk) : desk_(std::move(desk)) {}
  std::string name() const override { return "post"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  Tunable parallelism() const override { return 8; }
  void start(Element value, Context&, Completion completion) const override {
    const auto number = value.take<std::int64_t>();
    if (number == 13) throw std::runtime_error("not thirteen");
    desk_->put({number, std::move(completion)});
  }

 private:
  std::shared_ptr<Desk> desk_;
};

// Answers what lies on the desk, newest first, from a thread of its own.
template <class Answer> std::jthread clerk(std::shared_ptr<Desk> desk, Answer answer) {
  return std::jthread([desk, answer](std::stop_token stop) {
    while (!stop.stop_requested()) {
      if (auto letter = desk->take_newest()) {
        answer(std::move(*letter));
      } else {
        std::this_thread::sleep_for(100us);
      }
    }
  });
}

void answer_plainly(Desk::Letter letter) { letter.completion.complete(Element(letter.value + 1)); }

struct Post {
  std::shared_ptr<Desk> desk = std::make_shared<Desk>();
  Dataset<std::int64_t> over(std::int64_t count) const {
    return range(count).then<std::int64_t>(std::make_shared<PostOp>(desk));
  }
};

TEST(Completions, FromAForeignThreadInAnyOrderKeepTheElementsOrder) {
  const Post post;
  const auto worker = clerk(post.desk, answer_plainly);
  for (bool serial : {false, true}) EXPECT_EQ(read(post.over(12).map(plus_one), {.serial = serial}), numbers(2, 14));
}

TEST(Completions, ThatAreLostGiveErrorsInTheirPlace) {
  const Post post;
  const auto worker = clerk(post.desk, [](Desk::Letter letter) {
    if (letter.value % 4 == 2) return;  // torn up
    answer_plainly(std::move(letter));
  });
  EXPECT_EQ(read(post.over(8)), (Texts{"1", "2", "x2", "4", "5", "6", "x6", "8"}));
}

TEST(Completions, ThatFailOrFanOutOrGiveNothingAreElementsLikeOthers) {
  const Post post;
  const auto worker = clerk(post.desk, [](Desk::Letter letter) {
    if (letter.value == 1) return letter.completion.fail(std::make_exception_ptr(std::runtime_error("refused")));
    if (letter.value == 2) return letter.completion.complete_many({});
    std::vector<Element> twice;
    twice.emplace_back(letter.value);
    twice.emplace_back(letter.value);
    letter.completion.complete_many(std::move(twice));
  });
  EXPECT_EQ(read(post.over(4)), (Texts{"0", "0", "x1", "3", "3"}));
}

TEST(Completions, OfAStartThatThrewSayWhatItThrew) {
  const Post post;
  const auto worker = clerk(post.desk, answer_plainly);
  auto run = post.over(15).start();
  for (std::int64_t i = 0; i < 13; ++i) ASSERT_EQ(run.next(), i + 1);
  try {
    run.next();
    ADD_FAILURE() << "element 13 is no error";
  } catch (const ElementError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("not thirteen"));
    EXPECT_EQ(error.place().op, "post");
  }
  EXPECT_EQ(run.next(), 15);
}

TEST(Completions, ThatComeWhenTheRunHasGoneDoNothing) {
  const Post post;
  {
    auto run = post.over(100).start();
    EXPECT_TRUE(run.next_for(1ms).timed_out());
    ASSERT_TRUE(eventually([&] { return post.desk->size() == 8; }));
  }
  std::int64_t late = 0;
  while (auto letter = post.desk->take_newest()) {
    if (++late % 2 == 0) answer_plainly(std::move(*letter));  // the others are torn up
  }
  EXPECT_EQ(late, 8);
}

TEST(Completions, ThatComeWhileTheRunIsDestroyedDoNoHarm) {
  const Post post;
  const auto worker = clerk(post.desk, answer_plainly);
  for (int round = 0; round < 300; ++round) {
    auto run = post.over(12).map(plus_one).start();
    for (int i = 0; i < round % 10; ++i) ASSERT_EQ(run.next(), i + 2);
  }
}

// What is ready now; "" if nothing is.
std::string ready_text(IntegerRun& run) {
  try {
    const auto next = run.next_for(0ms);
    return next.is_element() ? text_of(*next.value) : "";
  } catch (const ElementError& error) {
    return text_of(error);
  }
}

TEST(Completions, OutAtOnceNeverExceedTheParallelism) {
  const Post post;
  auto run = post.over(100).start();
  std::size_t most = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    std::string text;
    while ((text = ready_text(run)).empty()) {
      most = std::max(most, post.desk->size());
      if (auto letter = post.desk->take_newest()) answer_plainly(std::move(*letter));
    }
    EXPECT_EQ(text, i == 13 ? "x13" : std::to_string(i + 1));
  }
  EXPECT_LE(most, 8u);
}

// -------------------------------------------------------------------------------- values of a source

// Whose copies are counted.
struct Page {
  explicit Page(std::string words, std::shared_ptr<std::atomic<int>> counter)
      : text(std::move(words)), copies(std::move(counter)) {}
  Page(const Page& other) : text(other.text), copies(other.copies) { ++*copies; }
  Page(Page&&) noexcept = default;
  std::string text;
  std::shared_ptr<std::atomic<int>> copies;
};

// Keeps its inputs, as one does whose answers come much later.
class KeepPages final : public ElementwiseOp {
 public:
  explicit KeepPages(std::vector<Element>& kept) : kept_(kept) {}
  std::string name() const override { return "keep_pages"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  Tunable parallelism() const override { return 1; }
  void start(Element value, Context&, Completion completion) const override {
    kept_.push_back(std::move(value));
    completion.complete(Element(std::int64_t{0}));
  }

 private:
  std::vector<Element>& kept_;
};

std::vector<Page> three_pages(const std::shared_ptr<std::atomic<int>>& copies) {
  std::vector<Page> pages;
  for (const char* text : {"one page of some length, so that it lies elsewhere", "two", "three"})
    pages.emplace_back(text, copies);
  *copies = 0;
  return pages;
}

TEST(BorrowedElements, OutliveTheirSourceWhereACallMayKeepThem) {
  const auto copies = std::make_shared<std::atomic<int>>(0);
  std::vector<Element> kept;
  {
    auto run = from_vector(three_pages(copies)).then<std::int64_t>(std::make_shared<KeepPages>(kept)).start();
    EXPECT_EQ(rest_of(run), (std::vector<std::string>{"0", "0", "0"}));
  }
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(*copies, 3);
  EXPECT_EQ(kept[0].get<Page>().text, "one page of some length, so that it lies elsewhere");
}

TEST(BorrowedElements, AreNotCopiedForWhoOnlyReadsThem) {
  const auto copies = std::make_shared<std::atomic<int>>(0);
  auto run = from_vector(three_pages(copies))
                 .map([](const Page& page) { return static_cast<std::int64_t>(page.text.size()); })
                 .start();
  EXPECT_EQ(rest_of(run), (std::vector<std::string>{"50", "3", "5"}));
  EXPECT_EQ(*copies, 0);
}

// What keeps a table of sizes while it hands an element over, and while it is asked for one.
struct Sized {
  std::int64_t value = 0;
};
std::mutex sizes;
std::atomic<int> sizes_refused{0};
[[maybe_unused]] std::size_t bytes_of(const Sized&) {
  const bool is_mine = eventually([] { return sizes.try_lock(); });
  if (is_mine) sizes.unlock();
  sizes_refused += is_mine ? 0 : 1;
  return 100;
}

class KeepsSizes final : public ElementwiseOp {
 public:
  std::string name() const override { return "keeps_sizes"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  void start(Element element, Context& context, Completion completion) const override {
    const std::lock_guard lock(sizes);
    std::atomic<bool> is_begun{false};
    auto answer = [&is_begun, value = element.take<std::int64_t>(), completion = std::move(completion)]() mutable {
      is_begun = true;
      completion.complete(Element(Sized{value}));
    };
    threads.emplace_back(std::move(answer));
    while (!is_begun) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // it gets as far as the size
    context.reserve(1000);
  }
  mutable std::vector<std::jthread> threads;
};

TEST(CompletesLater, AnswersWithoutALockThatItsStartMayWaitFor) {
  auto run = range(3).then<Sized>(std::make_shared<KeepsSizes>()).start({.threads = 2});
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(run.next().value().value, i);
  EXPECT_EQ(sizes_refused, 0);
}

}  // namespace
}  // namespace penstock
