#include <gtest/gtest.h>
#include <penstock/op.h>

#include <limits>
#include <string>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

class RecordingTarget final : public Completion::Target {
 public:
  void finish(Slot::Kind kind, Element value) noexcept override {
    ++answers;
    last_kind = kind;
    last = std::move(value);
  }
  int answers = 0;
  Slot::Kind last_kind = Slot::Kind::dropped;
  Element last;
};

TEST(Completion, HandsItsResultToTheEngine) {
  const auto target = std::make_shared<RecordingTarget>();
  Completion(target).complete(Element(std::string("done")));
  EXPECT_EQ(target->answers, 1);
  EXPECT_EQ(target->last_kind, Slot::Kind::element);
  EXPECT_EQ(target->last.take<std::string>(), "done");
}

TEST(Completion, MayHaveSeveralResults) {
  const auto target = std::make_shared<RecordingTarget>();
  std::vector<Element> values;
  values.emplace_back(1);
  values.emplace_back(2);
  Completion(target).complete_many(std::move(values));
  EXPECT_EQ(target->last_kind, Slot::Kind::many);
  EXPECT_EQ(target->last.get<std::unique_ptr<detail::Results>>()->size(), 2u);
}

TEST(Completion, MayFail) {
  const auto target = std::make_shared<RecordingTarget>();
  Completion(target).fail(std::make_exception_ptr(std::runtime_error("refused")));
  EXPECT_EQ(target->last_kind, Slot::Kind::failed);
  EXPECT_EQ(message_of(target->last.take<std::exception_ptr>()), "refused");
}

TEST(Completion, CountsItsFirstAnswerOnly) {
  const auto target = std::make_shared<RecordingTarget>();
  Completion completion(target);
  completion.complete(Element(1));
  completion.complete(Element(2));
  completion.fail(std::make_exception_ptr(std::runtime_error("late")));
  EXPECT_EQ(target->answers, 1);
  EXPECT_EQ(target->last.take<int>(), 1);
}

TEST(Completion, ThatIsDroppedGivesAnError) {
  const auto target = std::make_shared<RecordingTarget>();
  { const Completion dropped(target); }
  EXPECT_EQ(target->last_kind, Slot::Kind::failed);
  const auto error = target->last.take<std::exception_ptr>();
  EXPECT_EQ(message_of(error), "completion was dropped without an answer: call complete() or fail() on every path");
  EXPECT_EQ(code_of(error), ErrorCode::internal);
}

TEST(Completion, AnswersOnceThoughItWasMoved) {
  const auto target = std::make_shared<RecordingTarget>();
  {
    Completion first(target);
    Completion second(std::move(first));
    second.complete(Element(1));
  }
  EXPECT_EQ(target->answers, 1);
}

class Services final : public detail::ContextServices {
 public:
  explicit Services(bool has_room) : has_room_(has_room) {}
  std::string origin(const Stamp& stamp) const override { return "file" + std::to_string(stamp.ordinal); }
  bool try_reserve(std::int64_t bytes, bool may_refuse) override {
    asked = bytes;
    return has_room_ || !may_refuse;
  }
  std::int64_t asked = 0;

 private:
  bool has_room_;
};

Slot slot_at(std::int64_t ordinal) {
  Stamp stamp;
  stamp.ordinal = ordinal;
  return Slot(Element(), stamp);
}

TEST(Context, NamesTheSourceItemOfItsElement) {
  Services services(true);
  Context context({}, 0, &services);
  context.enter(slot_at(17));
  EXPECT_EQ(context.origin(), "file17");
  EXPECT_EQ(Context({}, 0).origin(), "");
}

TEST(Context, ReservesWhatIsThere) {
  Services services(true);
  Context context({}, 0, &services);
  context.enter(slot_at(0), true);
  EXPECT_NO_THROW(context.reserve(100));
  EXPECT_EQ(services.asked, 100);
}

TEST(Context, ReservesNoMoreThanAnyMachineHas) {
  Services services(true);
  Context context({}, 0, &services);
  context.enter(slot_at(0), true);
  context.reserve(std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(services.asked, std::int64_t{1} << 47);
}

TEST(Context, BreaksACallOffThatCanBeTriedAgain) {
  Services services(false);
  Context context({}, 0, &services);
  context.enter(slot_at(0), true);
  EXPECT_THROW(context.reserve(100), detail::RetryWhenMemoryIsFree);
}

TEST(Context, OnlyCountsForACallThatCannotBeTriedAgain) {
  Services services(false);
  Context context({}, 0, &services);
  context.enter(slot_at(0), false);
  EXPECT_NO_THROW(context.reserve(100));
  EXPECT_EQ(services.asked, 100);
  EXPECT_NO_THROW(Context({}, 0).reserve(100));
}

TEST(Context, DrawsTheSameNumbersForTheSameElement) {
  Context context({}, 5);
  context.enter(slot_at(3));
  const std::uint32_t first = context.rng().next_u32();
  context.enter(slot_at(4));
  EXPECT_NE(context.rng().next_u32(), first);
  context.enter(slot_at(3));
  EXPECT_EQ(context.rng().next_u32(), first);
}

// All of a flat_map's have the same place in the source.
TEST(Context, DrawsOtherNumbersForEachPartOfAnElement) {
  Context context({}, 5);
  Slot part = slot_at(3);
  context.enter(part);
  const std::uint32_t first = context.rng().next_u32();
  part.stamp = part.stamp.child(1);
  context.enter(part);
  EXPECT_NE(context.rng().next_u32(), first);
}

TEST(Outputs, GivesMemoryForTheDeclaredResults) {
  Outputs outputs;
  outputs.declare(2);
  EXPECT_EQ(outputs.slot(1, DType::f32, {2, 3}).shape(), (Shape{2, 3}));
  EXPECT_ERROR(outputs.slot(2, DType::f32, {1}), ErrorCode::invalid_argument, "outputs.slot(2) needs i < 2");
}

TEST(Outputs, AreForgottenBetweenElements) {
  Context context({}, 0);
  context.outputs().declare(2);
  context.enter(slot_at(1));
  EXPECT_EQ(context.outputs().declared(), 0u);
}

class Unfinished final : public ElementwiseOp {
 public:
  std::string name() const override { return "unfinished"; }
  Flow flow(const Flow& input) const override { return input; }
};

TEST(ElementwiseOp, SaysWhichFunctionItsAuthorForgot) {
  const Unfinished op;
  Context context({}, 0);
  EXPECT_ERROR(op.run({}, context), ErrorCode::unimplemented,
               "unfinished: its form needs run(), which the op does not override");
  EXPECT_ERROR(op.start({}, context, Completion(nullptr)), ErrorCode::unimplemented,
               "unfinished: its form needs start()");
  EXPECT_EQ(op.bytes_hint(Element(1)), std::nullopt);
}

TEST(Stamp, TellsChildrenApart) {
  const Stamp stamp;
  EXPECT_NE(stamp.child(0).sub, stamp.sub);
  EXPECT_NE(stamp.child(0).sub, stamp.child(1).sub);
  EXPECT_NE(stamp.child(0).child(1).sub, stamp.child(1).child(0).sub);
}

}  // namespace
}  // namespace penstock
