// Save points of what throws, says no or is damaged; and what they must not cost.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "lib/exec/noted_points.h"
#include "tests/engine/save_points.h"
#include "tests/support/expect_error.h"

namespace penstock {

// In a batch all have the same length.
struct OfOneLength {
  std::int64_t length = 0, value = 0;
};
template <> struct Collate<OfOneLength> {
  using Result = std::vector<OfOneLength>;
  class Builder {
   public:
    explicit Builder(std::size_t) {}
    void check(const OfOneLength& row) const {
      if (!rows_.empty() && rows_.front().length != row.length) throw std::runtime_error("another length");
    }
    void add(OfOneLength row) { rows_.push_back(row); }
    Result finish() { return std::move(rows_); }

   private:
    Result rows_;
  };
};

namespace {

using namespace testing;
using namespace std::chrono_literals;

// ------------------------------------------------------------------------------------------------ as it was

struct StepThrows final : StreamOp {
  struct State final : StreamState {
    void element(Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
  };
  struct Order final : IndexSequence {
    Order(std::unique_ptr<IndexSequence> input, int bad_step) : in(std::move(input)), bad(bad_step) {}
    void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
      in->begin_pass(epoch, pass);
      steps = 0;
    }
    std::optional<std::int64_t> next() override {
      if (steps++ == bad) throw std::runtime_error("step");
      return in->next();
    }
    std::int64_t size() const override { return in->size() + 1; }
    std::unique_ptr<IndexSequence> in;
    const int bad;
    int steps = 0;
  };
  explicit StepThrows(int bad_step) : bad(bad_step) {}
  std::string name() const override { return "throws"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(); }
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const override {
    return std::make_unique<Order>(std::move(input), bad);
  }
  const int bad;
};

// A step that throws is an error with a place of its own, and is one again.
TEST(SavePoint, OfAnOrderThatThrowsCountsItsErrors) {
  const auto data = range(20).then<std::int64_t>(std::make_shared<StepThrows>(5)).map(plus_one);
  expect_resumes_anywhere(data.take(15));
}

// It is not the element that has its number because none was given before.
TEST(Checkpoint, BehindTheFirstElementOfAnOrderWhoseFirstStepThrowsGoesOnThere) {
  const auto data = range(20).then<std::int64_t>(std::make_shared<StepThrows>(0)).map(plus_one);
  auto run = data.start({.on_error = skip_all()});
  run.next();
  const auto place = saved(run);
  auto again = data.start({.on_error = skip_all(), .resume_from = place});
  EXPECT_EQ(again.next(), run.next());
}

// Rows that were used up are left out, not put together: these do not fit each other.
TEST(SavePoint, OfARebatchPutsNoRowsTogetherThatWereGiven) {
  const auto rows = [](std::int64_t number) {
    std::vector<OfOneLength> batch;
    for (std::int64_t row = 0; row < 6; ++row) batch.push_back({row < 2 ? 2 : 3, 10 * number + row});
    return batch;
  };
  const auto firsts = [](const std::vector<OfOneLength>& batch) { return batch.front().value; };
  expect_resumes_anywhere(range(5).map(rows).rebatch({2, 3, 2}).map(firsts));
}

TEST(SavePoint, OfANestOfAFunctionWithAState) {
  const auto counting = [i = std::int64_t{0}](std::int64_t value) mutable {
    const std::int64_t first = 100 * ++i + 10 * value;
    return range(first, first + 3);
  };
  expect_resumes_anywhere(range(4).map(plus_one).flat_map(counting, {.parallelism = 1}));
}

// ------------------------------------------------------------------------------------------------ what it says

TEST(SavePoint, OfAWindowFarBehindItsInputIsRefused) {
  const auto data = range(60).map(plus_one).window(4, {.shift = 2}).map([](const std::vector<std::int64_t>& window) {
    return window.front();
  });
  const auto from = saved_behind(data, 9);
  StateWriter state;
  state.number(std::int64_t{1} << 61);
  for (std::size_t at = 0; at < from->save_point.size(); ++at) {
    Checkpoint changed = *from;
    changed.save_point.replace(at, 1, state.bytes());
    try {
      auto resumed = data.start(
          {.on_error = skip_all(), .serial = true, .resume_from = std::make_shared<Checkpoint>(std::move(changed))});
      for (int more = 0; more < 100 && resumed.next(); ++more) {
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::data_loss) << error.what();
    }
  }
}

TEST(SavePoint, WhateverItsBytesAreIsRefusedOrGoesOn) {
  const auto data = range(60)
                        .map(plus_one)
                        .shuffle(5, {.seed = 3})
                        .interleave([](std::int64_t n) { return range(n % 5); }, {.cycle_length = 3})
                        .take(70);
  const auto from = saved_behind(data, 30);
  std::uint64_t random = 1;
  std::int64_t refused = 0, went_on = 0;
  for (int i = 0; i < 2000; ++i) {
    Checkpoint changed = *from;
    random = mix64(random);
    changed.save_point[random % changed.save_point.size()] = static_cast<char>(random >> 32);
    try {
      auto run = data.start(
          {.on_error = skip_all(), .serial = true, .resume_from = std::make_shared<Checkpoint>(std::move(changed))});
      for (int more = 0; more < 200 && run.next(); ++more) {
      }
      ++went_on;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::data_loss) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(went_on, 10);
}

TEST(SavePoint, OfACacheWhoseInputHasShrunkIsRefused) {
  const auto of = [](std::int64_t count) { return counted(count).map(plus_one).cache().map(plus_one); };
  const auto place = saved_behind(of(2000), 1500);
  auto run = of(300).start({.resume_from = place});
  EXPECT_ERROR(run.next(), ErrorCode::data_loss, "this time");
}

// ------------------------------------------------------------------------------------------------ ops of a user's

// Gives what input_number() was, and holds what `held` makes of that.
template <class Held> OpRef holding(Held held) {
  struct Holds final : StreamOp {
    struct State final : StreamState {
      explicit State(Held tells) : tell(std::move(tells)) {}
      void element(Slot&& slot, Emitter& out) override {
        last = out.input_number();
        out.forward(std::move(slot));
      }
      bool save(StateWriter& out) const override {
        tell(last, out);
        return true;
      }
      void restore(StateReader& in) override {
        while (in.has_held()) in.take_held();
      }
      Held tell;
      std::int64_t last = 0;
    };
    explicit Holds(Held tells) : tell(std::move(tells)) {}
    std::string name() const override { return "holds"; }
    Flow flow(const Flow& input) const override { return input; }
    std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(tell); }
    Held tell;
  };
  return std::make_shared<Holds>(std::move(held));
}

TEST(SavePoint, OfAnOpThatHoldsWhatItCannotIsRefused) {
  const auto twice = [](std::int64_t last, StateWriter& out) {
    out.held(last);
    out.held(last);
  };
  const auto not_given_yet = [](std::int64_t last, StateWriter& out) { out.held(last + 1000); };
  for (const OpRef& op : {holding(twice), holding(not_given_yet)}) {
    auto run = dense_run(counted(40).then<std::int64_t>(op), {.serial = true});
    for (int taken = 0; taken < 20; ++taken) run.next();
    EXPECT_ERROR(run.checkpoint(), ErrorCode::invalid_argument,
                 "of an input that it has not been given, or of one twice");
  }
}

// Maps behind it need no state, so the number of elements would do; but it would read all of them again.
TEST(SavePoint, OfAReaderThatSavesIsUsedBehindMapsToo) {
  struct Numbers final : SourceOp {
    struct Reader final : SourceReader {
      explicit Reader(std::atomic<int>& count) : calls(count) {}
      void begin_pass(std::uint32_t, std::uint32_t) override { next_number = 0; }
      std::optional<Element> next(Context&) override {
        ++calls;
        if (next_number == 5000) return std::nullopt;
        return Element(next_number++);
      }
      bool save(StateWriter& out) const override {
        out.number(next_number);
        return true;
      }
      void restore(StateReader& in, std::int64_t) override { next_number = in.count(); }
      std::atomic<int>& calls;
      std::int64_t next_number = 0;
    };
    std::string name() const override { return "numbers"; }
    Flow flow(const Flow&) const override { return {}; }
    bool readers_save() const override { return true; }
    std::unique_ptr<SourceReader> open() const override { return std::make_unique<Reader>(calls); }
    mutable std::atomic<int> calls{0};
  };
  const auto op = std::make_shared<Numbers>();
  const Dataset<std::int64_t> source(graph::append(graph::NodeRef(), op, CallSite::here(), &typeid(std::int64_t)));
  const auto data = source.map(plus_one).batch(2);
  const auto from = saved_behind(data, 2000);
  op->calls = 0;
  auto run = dense_run(data, {.serial = true, .resume_from = from});
  EXPECT_EQ(run.next(), (std::vector<std::int64_t>{4001, 4002}));
  EXPECT_LT(op->calls, 1000);
}

// ------------------------------------------------------------------------------------------------ what it costs

// What says no is asked no more often than what says yes: it has cost as much time.
TEST(SavePoint, OfAnOpThatSaysNoSlowlyIsSeldomAskedFor) {
  struct SaysNo final : StreamOp {
    struct State final : StreamState {
      explicit State(std::atomic<int>& count) : asked(count) {}
      void element(Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
      bool save(StateWriter&) const override {
        ++asked;
        std::this_thread::sleep_for(5ms);
        return false;
      }
      std::atomic<int>& asked;
    };
    std::string name() const override { return "says_no"; }
    Flow flow(const Flow& input) const override { return input; }
    std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(asked); }
    mutable std::atomic<int> asked{0};
  };
  const auto op = std::make_shared<SaysNo>();
  const auto slow = from_generator([i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    std::this_thread::sleep_for(1ms);
    return i < 200 ? std::optional(i++) : std::nullopt;
  });
  EXPECT_EQ(read(slow.then<std::int64_t>(op)).size(), 200u);
  EXPECT_GE(op->asked, 1);
  EXPECT_LE(op->asked, 2) << "5 ms may be taken in half a second";
}

// One that is due takes no room where it cannot be given: a serial run has room for one slot.
TEST(SavePoint, OfANestThatIsDueAndCannotBeGivenHoldsNothingUp) {
  const auto parts = [](std::int64_t value) { return range(3 + value % 3); };
  const auto few_of = [](std::int64_t value) { return range(value % 5); };
  const auto twice = range(1200).flat_map(parts).interleave(few_of, {.cycle_length = 3});
  const auto sum = [](std::int64_t a, std::int64_t b) { return a + b; };
  auto run = zip(range(100'000), twice).map(sum).start({.epochs = 3, .serial = true});
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    run.epoch(epoch);
    std::int64_t count = 0;
    for (auto next = run.next_for(60s); !next.at_end(); next = run.next_for(60s), ++count)
      ASSERT_FALSE(next.timed_out());
    EXPECT_EQ(count, 7600);
  }
}

TEST(NotedPoints, AreFewOfMany) {
  exec::NotedPoints noted;
  for (std::int64_t next = 0; next < 1000; ++next) {
    const exec::HeldNumbers list = exec::HeldNumbers::of({next, next + 1});
    noted.note({.pass = next / 500,
                .before = {.slots = next % 500},
                .point = std::make_shared<exec::SavePoint>(exec::SavePoint{.inputs = {}, .held = list, .state = {}})});
    EXPECT_LE(noted.bytes(), 16 * 40);
  }
  const exec::NotedPoint* const last = noted.last_before(1, 499);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->before.slots, 499);
  EXPECT_EQ(noted.last_before(1, 498), nullptr) << "what came before the last one asked for has gone";
}

}  // namespace
}  // namespace penstock
