// Merging ops of a user's own.
#include "tests/engine/support.h"
#include "tests/support/expect_error.h"

#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace penstock {
namespace {

using namespace testing;

// An op whose state is this.
template <class State> class Own final : public MergeOp {
 public:
  std::string name() const override { return "own"; }
  Flow flow_of(std::span<const Flow>) const override { return {}; }
  std::unique_ptr<MergeState> open(std::size_t) const override { return std::make_unique<State>(); }
};
template <class State> std::shared_ptr<MergeOp> own() { return std::make_shared<Own<State>>(); }

// Takes one of each input in turn.
class InTurn final : public MergeOp {
 public:
  std::string name() const override { return "in_turn"; }
  Flow flow_of(std::span<const Flow>) const override { return {}; }
  std::unique_ptr<MergeState> open(std::size_t inputs) const override { return std::make_unique<State>(inputs); }

 private:
  class State final : public MergeState {
   public:
    explicit State(std::size_t inputs) : inputs_(inputs) {}
    void begin_pass(const Stamp&) override {
      next_ = 0;
      ended_ = false;
    }
    Want want() const override { return ended_ ? Want::nothing() : Want::one(next_); }
    void take(std::size_t input, Slot&& slot, Emitter& out) override {
      next_ = (input + 1) % inputs_;
      if (slot.is_element() && slot.value.get<std::int64_t>() == 13) throw std::runtime_error("thirteen");
      out.forward(std::move(slot));
    }
    void ended(std::size_t, Emitter&) override { ended_ = true; }

   private:
    const std::size_t inputs_;
    std::size_t next_ = 0;
    bool ended_ = false;
  };
};

TEST(OwnMerge, IsAnOpLikeTheLibrarys) {
  const auto merged = merge<std::int64_t>(std::make_shared<InTurn>(), branch(3), branch(10, 14));
  EXPECT_EQ(read(merged.repeat(2)), (Texts{"0", "10", "1", "11", "2", "12", "0", "10", "1", "11", "2", "12"}));
}

TEST(OwnMerge, FailsForOneElement) {
  const auto merged = merge<std::int64_t>(std::make_shared<InTurn>(), branch(12, 15), branch(3));
  EXPECT_EQ(read(merged), (Texts{"12", "0", "x1", "1", "14", "2"}));
}

TEST(OwnMerge, ThatGivesAnotherTypeFails) {
  auto run = merge<std::string>(std::make_shared<InTurn>(), branch(1)).start();
  EXPECT_ERROR(run.next(), ErrorCode::invalid_argument, "write the type that the op gives");
}

// Wants its first input for ever, and leaves errors out.
struct NeverStops final : MergeState {
  void begin_pass(const Stamp&) override {}
  Want want() const override { return Want::one(0); }
  void take(std::size_t, Slot&& slot, Emitter& out) override {
    slot.is_element() ? out.forward(std::move(slot)) : out.drop_error(std::move(slot));
  }
  void ended(std::size_t, Emitter&) override {}
};

TEST(OwnMerge, ThatGoesOnToWantWhatHasEndedGetsAnErrorInPlaceOfTheRest) {
  auto run = merge<std::int64_t>(own<NeverStops>(), branch(2), branch(3)).start({.epochs = 2});
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    run.epoch(epoch);
    EXPECT_EQ(next_text(run), "0");
    EXPECT_EQ(next_text(run), "1");
    EXPECT_ERROR(run.next(), ErrorCode::internal, "though it was told that this one has ended");
    EXPECT_EQ(next_text(run), "end");
  }
}

// What is missing of a short input is made up, as often as the other one asks for it.
struct FillsUp final : MergeState {
  std::int64_t given = 0;
  void begin_pass(const Stamp&) override { given = 0; }
  Want want() const override { return given < 500 ? Want::one(0) : Want::nothing(); }
  void take(std::size_t, Slot&& slot, Emitter& out) override {
    ++given;
    out.forward(std::move(slot));
  }
  void ended(std::size_t, Emitter& out) override { out.emit(Element(-++given), Stamp{}); }
};

TEST(OwnMerge, MayGiveSomethingEachTimeThatItIsToldOfAnEnd) {
  const Texts texts = read(merge<std::int64_t>(own<FillsUp>(), branch(2), branch(3)));
  ASSERT_EQ(texts.size(), 500u);
  EXPECT_EQ(texts[1], "1");
  EXPECT_EQ(texts[499], "-500");
}

TEST(OwnMerge, IsCountedForErrorsThatItLeavesOut) {
  auto run = merge<std::int64_t>(own<NeverStops>(), branch(5).map(failing_at(3)), branch(3)).start();
  for (const char* text : {"0", "1", "2", "4"}) EXPECT_EQ(next_text(run), text);
  EXPECT_EQ(run.stats().dropped, 1);
}

// Keeps its first input whole, then gives the second one; or cannot say what it keeps.
template <bool can_say> struct KeepsTheFirst final : MergeState {
  std::size_t reads = 0;
  std::vector<Slot> kept;
  void begin_pass(const Stamp&) override { reads = 0, kept.clear(); }
  Want want() const override { return reads < 2 ? Want::one(reads) : Want::nothing(); }
  void take(std::size_t input, Slot&& slot, Emitter& out) override {
    input == 0 ? kept.push_back(std::move(slot)) : out.forward(std::move(slot));
  }
  void ended(std::size_t, Emitter&) override { ++reads; }
  std::int64_t held_bytes() const override {
    if (!can_say) throw std::runtime_error("cannot say");
    return std::ssize(kept) * 1000;
  }
};

TEST(OwnMerge, IsChargedForWhatItSaysThatItKeeps) {
  auto run = merge<std::int64_t>(own<KeepsTheFirst<true>>(), branch(40), branch(3)).start();
  EXPECT_EQ(next_text(run), "0");
  EXPECT_GE(run.snapshot().stages.at(2).bytes_held, 40 * 1000);
  EXPECT_GE(run.snapshot().memory_used, 40 * 1000);
}

TEST(OwnMerge, ThatCannotSayWhatItKeepsFailsOnce) {
  auto run = merge<std::int64_t>(own<KeepsTheFirst<false>>(), branch(40), branch(3)).start();
  EXPECT_ERROR(run.next(), ErrorCode::internal, "cannot say");
  EXPECT_EQ(rest_of(run), (Texts{"0", "1", "2"}));
}

// Can say what it keeps only right after it was called.
struct SaysOnce final : MergeState {
  std::size_t reads = 0;
  mutable bool was_called = false;
  void begin_pass(const Stamp&) override { reads = 0; }
  Want want() const override {
    was_called = true;
    return reads < 2 ? Want::one(reads) : Want::nothing();
  }
  void take(std::size_t, Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
  void ended(std::size_t, Emitter&) override { ++reads; }
  std::int64_t held_bytes() const override {
    if (!std::exchange(was_called, false)) throw std::runtime_error("not now");
    return 1;
  }
};

TEST(OwnMerge, IsAskedWhatItKeepsInItsPassesOnly) {
  auto run = merge<std::int64_t>(own<SaysOnce>(), branch(2), branch(5, 7)).start({.epochs = 3});
  for (std::uint32_t epoch = 0; epoch < 3; ++epoch) {
    run.epoch(epoch);
    EXPECT_EQ(rest_of(run), (Texts{"0", "1", "5", "6"})) << epoch;
  }
}

// A stamp of no element, in case that somebody gives something with it.
struct GivesOfNone final : MergeState {
  Stamp pass;
  std::size_t reads = 0;
  void begin_pass(const Stamp& begun) override { pass = begun, reads = 0; }
  Want want() const override { return reads < 2 ? Want::one(reads) : Want::nothing(); }
  void take(std::size_t, Slot&&, Emitter&) override {}
  void ended(std::size_t, Emitter& out) override { ++reads, out.emit(Element(std::int64_t{1}), pass); }
};

TEST(OwnMerge, WhatItGivesWithThePassesStampIsOfNoSource) {
  const auto fails = [](std::int64_t) -> std::int64_t { throw std::runtime_error("planted"); };
  auto run = merge<std::int64_t>(own<GivesOfNone>(), branch(2), branch(3)).map(fails).start();
  try {
    run.next();
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().source_position, -1);
    EXPECT_EQ(error.place().source_ordinal, -1);
  }
}

TEST(OwnMerge, IsNoneOfOneInputOnly) {
  EXPECT_ERROR(branch(2).then<std::int64_t>(nullptr), ErrorCode::invalid_argument, "null pointer");
  EXPECT_ERROR(merge<std::int64_t>(nullptr, branch(1), branch(2)), ErrorCode::invalid_argument, "null pointer");
}

}  // namespace
}  // namespace penstock
