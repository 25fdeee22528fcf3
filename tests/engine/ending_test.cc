// How an epoch ends where somebody has enough: at once, whatever those before are doing.
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// Waits until the call is not wanted any more.
void wait_for_stop(const Context& context) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait(lock, context.stop_token(), [] { return false; });
}

// 0, 1, ... ; the call for element `last` + 1 waits. Others are dear enough to be made one by one.
auto blocked_behind(std::int64_t last) {
  return from_generator([last, i = std::int64_t{0}](Context& context) mutable -> std::optional<std::int64_t> {
    std::this_thread::sleep_for(1ms);
    if (i > last) wait_for_stop(context);
    return i++;
  });
}

// A door that calls wait at.
class Door {
 public:
  ~Door() { open(); }
  void pass() { open_.wait(false); }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> open_{false};
};

template <class T> Texts rest_soon(Run<T>& run) {
  Texts texts;
  for (;;) {
    auto next = run.next_for(kPatience);
    if (!next.is_element()) {
      texts.emplace_back(next.at_end() ? "end" : "timeout");
      return texts;
    }
    texts.push_back(text_of(*next.value));
  }
}

Texts with_end(Texts texts) {
  texts.emplace_back("end");
  return texts;
}

class Ending : public ::testing::TestWithParam<bool> {
 protected:
  RunOptions options() const { return {.tune = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Tuned, Ending, ::testing::Bool());

TEST_P(Ending, ComesWithTheLastElementOfATakeWhateverTheSourceDoes) {
  Door door;
  const auto data = from_generator([&door, i = 0]() mutable {
                      std::this_thread::sleep_for(1ms);
                      if (i == 5) door.pass();
                      return std::optional<std::int64_t>(i++);
                    })
                        .map(plus_one)
                        .take(5)
                        .batch(2);
  auto run = data.start(options());
  EXPECT_EQ(rest_soon(run), (Texts{"[1 2]", "[3 4]", "[5]", "end"}));
  door.open();
}

TEST_P(Ending, ComesWithTheLastElementOfATakeWhateverAStageBetweenDoes) {
  Door door;
  const auto data = range(100)
                        .map(
                            [&door](std::int64_t value) {
                              if (value >= 5) door.pass();
                              return value;
                            },
                            4, {.blocks = true})
                        .take(5);
  auto run = data.start(options());
  EXPECT_EQ(rest_soon(run), with_end(numbers(0, 5)));
  door.open();
}

TEST_P(Ending, OfAPassStopsTheSourceSoThatTheNextOneBegins) {
  const auto data = blocked_behind(2).take(3).repeat(4).take(8);
  auto run = data.start(options());
  EXPECT_EQ(rest_soon(run), (Texts{"0", "1", "2", "0", "1", "2", "0", "1", "end"}));
  run.epoch(1);
  EXPECT_EQ(rest_soon(run), (Texts{"0", "1", "2", "0", "1", "2", "0", "1", "end"}));
}

TEST_P(Ending, OfSeveralTakesIsThatOfTheFirstThatHasEnough) {
  auto run = blocked_behind(1).take(3).map(plus_one).take(2).take(7).start(options());
  EXPECT_EQ(rest_soon(run), (Texts{"1", "2", "end"}));
}

TEST_P(Ending, OfARunStopsItsSource) {
  auto run = std::make_unique<IntegerRun>(blocked_behind(2).start(options()));
  EXPECT_EQ(run->next(), 0);
  run.reset();
}

TEST_P(Ending, OfAnEpochThatIsLeftStopsItsSource) {
  auto run = blocked_behind(2).start(options());
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    run.epoch(epoch);
    EXPECT_EQ(run.next(), 0);
    EXPECT_EQ(run.next(), 1);
  }
}

// Has enough at its fifth element, and is long in saying so: the consumer is through with the epoch by then.
class LateToEnd final : public StreamOp {
 public:
  explicit LateToEnd(std::function<void()> wait) : wait_(std::move(wait)) {}
  std::string name() const override { return "late_to_end"; }
  Flow flow(const Flow&) const override { return {}; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(wait_); }

 private:
  struct State final : StreamState {
    explicit State(const std::function<void()>& wait) : wait_(wait) {}
    void begin_pass(Emitter&) override { seen_ = 0; }
    void element(Slot&& slot, Emitter& out) override {
      out.forward(std::move(slot));
      if (++seen_ != 5) return;
      wait_();
      out.end_pass();
    }
    const std::function<void()>& wait_;
    int seen_ = 0;
  };
  const std::function<void()> wait_;
};

TEST_P(Ending, SaidTooLateCostsNoOtherEpoch) {
  std::atomic<std::int64_t> epochs_read{0};
  std::atomic<std::int64_t> waited{0};
  const auto op = std::make_shared<LateToEnd>([&] {
    const std::int64_t mine = ++waited;
    eventually([&] { return epochs_read >= mine || epochs_read == 5; });
  });
  for (const std::int64_t elements : {5, 6, 10, 100}) {
    epochs_read = waited = 0;
    auto run = range(elements).then(op).take(3).start(options());
    for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
      run.epoch(epoch);
      EXPECT_EQ(rest_soon(run), with_end(numbers(0, 3))) << "epoch " << epoch << " of " << elements;
      ++epochs_read;
    }
  }
}

TEST(Ending, ComesSeriallyBeforeTheSourceIsAskedForMore) {
  std::int64_t asked = 0;
  const auto data = from_generator([&asked, i = 0]() mutable {
    ++asked;
    return std::optional<std::int64_t>(i++);
  });
  EXPECT_EQ(read(data.take(5), {.serial = true}), numbers(0, 5));
  EXPECT_EQ(asked, 5);
}

}  // namespace
}  // namespace penstock
