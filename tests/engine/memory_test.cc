// What the memory budget counts.
#include <latch>
#include <limits>
#include <memory>
#include <optional>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"

#include "tests/engine/support.h"
#include "tests/support/pumped.h"

namespace penstock {
namespace {

using namespace testing;

// Tensors of a megabyte, but for one, of which it cannot tell the size.
class OddOneOut final : public ElementwiseOp {
 public:
  std::string name() const override { return "odd_one_out"; }
  Form form() const override { return Form::blocks; }
  Tunable parallelism() const override { return 4; }
  Flow flow(const Flow& input) const override { return input; }
  std::optional<std::size_t> bytes_hint(const Element& input) const override {
    return is_odd(input) ? std::nullopt : std::optional(MiB);
  }
  void run(std::span<Slot> slots, Context&) const override {
    for (Slot& slot : slots) slot.emit(Element(Tensor(DType::u8, {is_odd(slot.value) ? 8 : 1 << 20})));
  }

 private:
  static bool is_odd(const Element& input) { return input.get<std::int64_t>() == 5; }
};

TEST(Memory, IsForetoldToTheEndThoughOneElementWasNot) {
  auto run = range(40).then<Tensor>(std::make_shared<OddOneOut>()).start({.memory_bytes = 4 * MiB});
  while (run.next()) {
  }
  EXPECT_LE(run.stats().overshoot_bytes, static_cast<std::int64_t>(8 + sizeof(Slot)));
  EXPECT_LE(run.stats().memory_peak, static_cast<std::int64_t>(6 * MiB));
}

// Its input is gone once it has begun, so it cannot be broken off.
TEST(Memory, ReservedByACallThatCannotBeTriedAgainIsCounted) {
  const auto by_value = [](std::int64_t value, Context& context) {
    context.reserve(MiB);
    return value;
  };
  auto run = range(4).map(by_value, 2).start({.memory_bytes = 2 * MiB});
  EXPECT_EQ(rest_of(run), numbers(0, 4));
  EXPECT_GE(run.stats().overshoot_bytes, static_cast<std::int64_t>(4 * MiB));
  EXPECT_LT(run.snapshot().memory_used, 1000);
}

// A filter's results hold what its inputs held, but its function may still need room.
TEST(Memory, ReservedByAFilterIsGivenBack) {
  auto run = range(4)
                 .filter([](std::int64_t, Context& context) {
                   context.reserve(MiB);
                   return true;
                 })
                 .start({.memory_bytes = 16 * MiB});
  EXPECT_EQ(rest_of(run), numbers(0, 4));
  EXPECT_LT(run.snapshot().memory_used, 1000);
}

// As a broken file's header may ask for: in the books it is more than any budget, and still a number.
TEST(Memory, ReservedBeyondAllThatAMachineCanHaveIsMerelyALot) {
  const auto expect_a_lot = [](const Dataset<std::int64_t>& data) {
    auto run = data.start({.memory_bytes = MiB});
    EXPECT_EQ(rest_of(run), numbers(0, 50));
    EXPECT_GE(run.stats().overshoot_bytes, 0);
    EXPECT_GT(run.stats().memory_peak, std::int64_t{1} << 40);
    EXPECT_LT(run.stats().memory_peak, std::int64_t{1} << 60);
    EXPECT_LT(std::abs(run.snapshot().memory_used), 1000);
  };
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t impossible : {kMost, kMost / 2}) {
    const auto reserve = [impossible](Context& context) { context.reserve(impossible); };
    expect_a_lot(range(50).map([reserve](std::int64_t value, Context& context) { return reserve(context), value; }, 2));
    expect_a_lot(
        range(50).map([reserve](const std::int64_t& value, Context& context) { return reserve(context), value; }, 2));
  }
}

struct Claiming {
  std::int64_t value;
  std::size_t bytes;
};
std::size_t bytes_of(const Claiming& claiming) { return claiming.bytes; }

TEST(Memory, HeldBeyondAllThatAMachineCanHaveIsMerelyALot) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t impossible : {kMost, kMost / 2, kMost - 1'000'000}) {
    auto run = range(50)
                   .map(
                       [impossible](std::int64_t value) {
                         return Claiming{value, impossible};
                       },
                       2)
                   .start({.memory_bytes = MiB});
    for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(run.next()->value, i);
    EXPECT_GT(run.stats().memory_peak, std::int64_t{1} << 40);
    EXPECT_LT(run.stats().memory_peak, std::int64_t{1} << 60);
    EXPECT_GE(run.snapshot().memory_used, 0);
  }
}

// "No limit", as users write it.
TEST(Memory, MayBeAllThatANumberCanSay) {
  auto run = range(100).map(plus_one).start({.memory_bytes = std::numeric_limits<std::size_t>::max()});
  EXPECT_EQ(rest_of(run), numbers(1, 101));
  EXPECT_GT(run.snapshot().memory_limit, std::int64_t{1} << 60);
}

// Texts of a thousand characters, pumped by hand, for a consumer that takes nothing by itself.
struct PumpedTexts {
  std::int64_t time_ns = 0;
  const ClockedMachine machine{[this] { return time_ns += 1000; }};
  exec::QueueLauncher* queue = nullptr;
  std::shared_ptr<exec::Engine> engine;

  PumpedTexts() {
    const auto data = range(100).map([](std::int64_t) { return std::string(1000, 'x'); }, 1).prefetch(50);
    exec::EngineSettings settings;
    settings.machine = &machine;
    settings.memory_bytes = 10'700;  // nine results of 1,144 bytes, and some inputs
    auto launcher = first_come();
    queue = launcher.get();
    engine = exec::Engine::make(exec::compile(data.node()), settings, std::move(launcher));
  }
  PumpedTexts(const PumpedTexts&) = delete;  // its clock is in it
  PumpedTexts& operator=(const PumpedTexts&) = delete;
  ~PumpedTexts() { engine->shut_down(); }

  std::int64_t ready_at_rest() {
    while (queue->run_one()) {
    }
    return engine->snapshot().consumer.ready;
  }
};

// As soon as the consumer has taken an element, the next one is made in its place.
TEST(Memory, ThatTheConsumerFreesIsUsedAtOnce) {
  PumpedTexts texts;
  exec::Engine& engine = *texts.engine;
  const std::int64_t most = texts.ready_at_rest();
  EXPECT_TRUE(engine.snapshot().stages[1].waits_for_memory);
  EXPECT_GE(engine.state().neighbours.memory_claimed_behind(0), 1000);
  EXPECT_EQ(engine.state().neighbours.memory_claimed_behind(1), 0) << "a stage's own claim keeps nothing from it";
  EXPECT_GT(most, 5);
  for (int i = 0; i < 20; ++i) {
    Slot slot;
    engine.next(slot);
    EXPECT_EQ(texts.ready_at_rest(), most) << i;
  }
}

// Nothing else moves: the consumer takes nothing.
TEST(Memory, OfWhichThereIsMoreIsUsedAtOnce) {
  PumpedTexts texts;
  EXPECT_LT(texts.ready_at_rest(), 20);
  auto knobs = texts.engine->knobs();
  std::ranges::find(knobs, "memory", &Knob::name)->set(1'000'000);
  EXPECT_EQ(texts.ready_at_rest(), 50);
}

// ------------------------------------------------------------------------------------------------ what nobody
// foretells

// The one that is large takes the run past its budget, so stages reserve what their largest result was.
TEST(Outlier, IsForgottenWithinSomeHundredCalls) {
  constexpr std::size_t kSmall = 1024, kLarge = 8 * MiB;
  const auto text = [](std::int64_t number) { return std::string(number == 100 ? kLarge : kSmall, 'x'); };
  auto run = range(2000).map(text, 4).start({.memory_bytes = MiB, .tune = false});
  std::int64_t most = 0;
  while (run.next()) most = std::max(most, run.snapshot().stages.at(1).bytes_expected);
  EXPECT_GT(most, std::int64_t{MiB});
  EXPECT_LT(run.snapshot().stages.at(1).bytes_expected, std::int64_t{8 * kSmall});
}

// However many may run. With each tenth of a second that passes without a result twice as many begin: a machine may
// well be that slow here.
TEST(FirstBurst, OfResultsOfUnknownSizeIsOfFewCalls) {
  std::atomic<int> begun{0}, begun_before_the_first_result{0};
  const auto work = [&](std::int64_t value) {
    ++begun;
    std::this_thread::sleep_for(5ms);
    int none = 0;
    begun_before_the_first_result.compare_exchange_strong(none, begun);
    return std::string(100, static_cast<char>(value));
  };
  auto run = range(256).map(work, 64, {.blocks = true}).start({.tune = false});
  while (run.next()) {
  }
  EXPECT_LE(begun_before_the_first_result, 16);
}

TEST(FirstBurst, LetsCallsBeginThatWaitForEachOther) {
  for (const bool tune : {true, false}) {
    std::latch all(8);
    const auto meet = [&all](std::int64_t value) {
      all.arrive_and_wait();
      return std::to_string(value);
    };
    EXPECT_EQ(read(range(8).map(meet, 8, {.blocks = true}), {.tune = tune}), numbers(0, 8));
  }
}

// A large one takes the whole budget, and its type alone says so.
TEST(FirstBurst, OfResultsWhoseTypeTellsTheirSizeKeepsToTheBudget) {
  using Large = std::array<std::byte, 256 * 1024>;
  std::atomic<int> at_once{0}, most{0};
  const auto work = [&](std::int64_t) {
    const int now = ++at_once;
    for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
    }
    std::this_thread::sleep_for(2ms);
    --at_once;
    return Large();
  };
  auto run = range(40).map(work, 16, {.blocks = true}).start({.memory_bytes = MiB, .tune = false});
  while (run.next()) {
  }
  EXPECT_LE(most, 4);
}

}  // namespace
}  // namespace penstock
