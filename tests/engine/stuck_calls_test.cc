// Functions that do not return: the consumer can stop waiting, and whoever destroys the run is told what it waits for.
#include "lib/runtime/stuck_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;
using runtime::stuck_calls;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Gate {
 public:
  void open() { open_ = true; }
  // The identity, which does not return for `value` while the gate is shut.
  auto holding(std::int64_t value) {
    return [this, value](std::int64_t element) {
      while (element == value && !open_) std::this_thread::sleep_for(1ms);
      return element;
    };
  }

 private:
  std::atomic<bool> open_{false};
};

// What is written to stderr while it lives, for another thread to read.
class StderrReader {
 public:
  StderrReader() : saved_(::dup(STDERR_FILENO)) {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    ::dup2(ends_[1], STDERR_FILENO);
  }
  ~StderrReader() {
    ::dup2(saved_, STDERR_FILENO);
    for (int end : {saved_, ends_[0], ends_[1]}) ::close(end);
  }
  StderrReader(const StderrReader&) = delete;
  StderrReader& operator=(const StderrReader&) = delete;

  // Waits for a line.
  std::string line() {
    std::string text;
    for (char c = 0; c != '\n' && ::read(ends_[0], &c, 1) == 1;) text += c;
    return text;
  }

 private:
  std::array<int, 2> ends_{};
  const int saved_;
};

class TwoFiles : public IndexedSource {
 public:
  std::int64_t size() const override { return 2; }
  Element at(std::int64_t index) const override { return Element(index); }
  std::string origin(std::int64_t index) const override {
    return index == 0 ? "cat.JPEG" : throw std::runtime_error("no name");
  }
};

Snapshot stuck_at(std::int64_t ordinal) {
  Snapshot snapshot;
  snapshot.stages.resize(2);
  snapshot.stages[1].oldest_call_ns = 7'200'000'000;
  snapshot.stages[1].oldest_call_ordinal = ordinal;
  return snapshot;
}

exec::Plan plan_over(const IndexedSource& source) {
  exec::Plan plan;
  plan.stages.resize(2);
  plan.stages[1].label.name = "map";
  plan.stages[1].label.position = 3;
  plan.stages[1].label.call_site = "train.cc:12";
  plan.sources.push_back({.items = &source});
  return plan;
}

TEST(StuckCalls, AreNamedWithOpLineAgeElementAndFile) {
  const TwoFiles files;
  EXPECT_THAT(stuck_calls(stuck_at(0), plan_over(files)),
              ElementsAre(AllOf(HasSubstr("map (op 3, train.cc:12)"), HasSubstr("7.2 s ago"),
                                HasSubstr("element 0 of the source ('cat.JPEG')"), HasSubstr("stop_token()"))));
}

TEST(StuckCalls, OfATreeNameTheSourceToo) {
  const TwoFiles files;
  exec::Plan plan = plan_over(files);
  plan.sources.insert(plan.sources.begin(), {.position = 0});
  plan.sources.back().position = 2;
  Snapshot stuck = stuck_at(0);
  EXPECT_THAT(stuck_calls(stuck, plan), ElementsAre(HasSubstr("element 0 of op 0.")));
  stuck.stages[1].oldest_call_source = 1;
  EXPECT_THAT(stuck_calls(stuck, plan), ElementsAre(HasSubstr("element 0 of op 2 ('cat.JPEG')")));
}

TEST(StuckCalls, OfAnElementWhoseNameCannotBeHadAreNamedAllTheSame) {
  const TwoFiles files;
  EXPECT_THAT(stuck_calls(stuck_at(1), plan_over(files)),
              ElementsAre(HasSubstr("element 1 of the source ('? (the source failed to name it: no name)')")));
}

TEST(StuckCalls, AreNoneWhereNothingRuns) {
  const TwoFiles files;
  Snapshot idle;
  idle.stages.resize(2);
  EXPECT_THAT(stuck_calls(idle, plan_over(files)), IsEmpty());
}

TEST(StuckCalls, LetTheConsumerStopWaiting) {
  Gate gate;
  const auto data = range(20).map(gate.holding(3), 2, {.blocks = true});
  auto run = data.start();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(run.next());
  EXPECT_TRUE(run.next_for(20ms).timed_out());
  EXPECT_TRUE(eventually([&] {
    const StageSnapshot map = run.snapshot().stages.at(1);
    return map.oldest_call_ordinal == 3 && map.oldest_call_ns >= 20'000'000;
  }));
  gate.open();
  EXPECT_EQ(rest_of(run), numbers(3, 20));
}

// start() is to return at once; this one's does not.
class StartsSlowly final : public ElementwiseOp {
 public:
  explicit StartsSlowly(std::function<std::int64_t(std::int64_t)> function) : function_(std::move(function)) {}
  std::string name() const override { return "starts_slowly"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  void start(Element value, Context&, Completion completion) const override {
    completion.complete(Element(function_(value.get<std::int64_t>())));
  }

 private:
  const std::function<std::int64_t(std::int64_t)> function_;
};

TEST(StuckCalls, AreToldToWhoeverDestroysTheirRun) {
  for (const char* form : {"computes", "blocks", "starts"}) {
    Gate gate;
    StderrReader errors;
    const auto data = range(20).prefetch(1);  // no two elements share a call
    const auto held = form[0] == 's' ? data.then<std::int64_t>(std::make_shared<StartsSlowly>(gate.holding(3)))
                                     : data.map(gate.holding(3), 2, {.blocks = form[0] == 'b'});
    std::optional<IntegerRun> run = held.start();
    run->next();
    EXPECT_TRUE(eventually([&] { return run->snapshot().stages.at(1).oldest_call_ordinal == 3; }));
    std::thread destroyer([&] { run.reset(); });
    const std::string line = errors.line();
    gate.open();
    destroyer.join();
    EXPECT_THAT(line, AllOf(HasSubstr("penstock: a run that was given up waits for "),
                            HasSubstr("(op 2, stuck_calls_test.cc:"), HasSubstr("for element 3 of the source")))
        << form;
  }
}

// The op asks for a size before the call proper, which may take its time as well.
TEST(StuckCalls, AreNotOlderThanTheirRunWhileTheSizeIsAskedFor) {
  Gate gate;
  auto held = gate.holding(0);
  const auto hint = [held](const std::int64_t& value) { return static_cast<std::size_t>(held(value)); };
  auto run = range(3).map(plus_one, 1, {.blocks = true, .bytes_hint = hint}).start();
  run.next_for(1ms);
  ASSERT_TRUE(eventually([&] { return run.snapshot().stages.at(1).oldest_call_ns > 0; }));
  const StageSnapshot map = run.snapshot().stages.at(1);
  EXPECT_LE(map.oldest_call_ns, run.snapshot().time_ns);
  gate.open();
  EXPECT_EQ(rest_of(run), numbers(1, 4));
}

}  // namespace
}  // namespace penstock
