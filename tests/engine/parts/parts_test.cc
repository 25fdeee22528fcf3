// Groups that leave the ring in parts.
#include "lib/exec/parts.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

// Calls that nobody makes: the test says how far they have come.
class NotedBody final : public Body {
 public:
  explicit NotedBody(bool is_stream) : is_stream_(is_stream) {}
  void run(Group&, Context&) override {}
  Slots& results_of(Group& group) const override { return is_stream_ ? group.results : group.slots; }

 private:
  const bool is_stream_;
};

struct Parted : PartOf {
  explicit Parted(const graph::NodeRef& node = mapped(), std::size_t index = 1)
      : PartOf(node, index), body(std::make_unique<NotedBody>(index > 0 && traits.plan.serial)) {}

  const std::unique_ptr<Body> body;
  Ring ring{traits, 2};
  Meter meter{traits};
  Sizes sizes{traits, signs, knobs, meter};
  Lanes lanes{traits, ring, sizes, knobs};
  Folded folded{signs};
  Inbox inbox{traits, 2};
  Parts parts{traits, signs, body, ring};
  Cancellation cancellation{traits, inbox, ring, lanes, folded, nullptr};

  // A call has begun on these.
  Group& running(const std::string& text, std::int64_t bytes = 0) {
    Group& group = admit(ring, slots_of(text, 0, bytes));
    ring.pop_ready();
    group.state = Group::State::running;
    parts.open(group);
    return group;
  }
  static void answer(Group& group, std::size_t count) { group.call->progress.answered = count; }
  // Of all groups together.
  template <class Struct> std::int64_t sum(Struct Group::*part, std::int64_t Struct::*member) const {
    std::int64_t sum = 0;
    for (const auto& group : ring.groups()) sum += (*group).*part.*member;
    return sum;
  }
};

TEST(Parts, AreOfCallsOverSeveralSlots) {
  Parted of;
  Group& one = of.running("0");
  EXPECT_EQ(one.call, nullptr);
  Group& two = of.running("1 2");
  EXPECT_TRUE(two.is_open());
  EXPECT_EQ(of.signs.open_calls, 1);
  EXPECT_FALSE(two.call->progress.is_wanted_back);
  EXPECT_EQ(of.parts.take(), nullptr) << "nothing is done";
}

TEST(Parts, OfACallThatIsOverAreWantedBackAtOnce) {
  for (const bool is_stopped : {false, true}) {
    Parted of;
    Group& group = admit(of.ring, slots_of("0 1"));
    (is_stopped ? of.host.is_stopped : group.is_unwanted) = true;
    of.parts.open(group);
    EXPECT_TRUE(group.call->progress.is_wanted_back);
  }
}

TEST(Parts, LeaveInFrontOfTheirCallWithTheirShare) {
  Parted of;
  Group& group = of.running("0 1 2 3 |0", 100);
  group.memory.reserved = 1000;
  group.memory.hint = 500;
  of.answer(group, 2);
  Group* const part = of.parts.take();
  ASSERT_NE(part, nullptr);
  EXPECT_TRUE(is_oldest(of.ring, *part));
  EXPECT_EQ(text_of(part->slots), "0 1");
  EXPECT_EQ(part->kind, Group::Kind::part);
  EXPECT_EQ(part->state, Group::State::running);
  EXPECT_FALSE(part->mark);
  EXPECT_EQ(part->inputs.admitted, 2);
  EXPECT_EQ(part->inputs.elements, 2);
  EXPECT_EQ(part->inputs.bytes, 200);
  EXPECT_EQ(part->memory.reserved, 1000 * 2 / 5) << "the mark had a share, too";
  EXPECT_EQ(part->memory.hint, 500 * 2 / 5);
  EXPECT_EQ(of.sum(&Group::inputs, &InputCounts::admitted), of.ring.in_window());
  EXPECT_EQ(of.sum(&Group::memory, &CallMemory::reserved), 1000);
  EXPECT_EQ(of.sum(&Group::inputs, &InputCounts::bytes), 400);
  EXPECT_EQ(of.sum(&Group::inputs, &InputCounts::elements), 4);
}

TEST(Parts, HaveThePlacesOfTheirInputs) {
  Parted of;
  of.ring.count_inputs(10, false);
  Group& group = of.running("0 1 2 3 4");
  group.place.first_turn = 20;
  of.answer(group, 2);
  Group* const first = of.parts.take();
  first->state = Group::State::done;
  of.answer(group, 4);
  Group* const second = of.parts.take();
  EXPECT_EQ(first->place.first_turn, 20);
  EXPECT_EQ(second->place.first_turn, 22);
  EXPECT_EQ(second->place.first_ordinal, 12);
  EXPECT_EQ(text_of(second->slots), "2 3");
  EXPECT_EQ(of.ring.groups()[1].get(), second);
  EXPECT_GT(second->place.number, group.place.number) << "nobody compares them: parts are in no line";
  EXPECT_EQ(of.ring.ready(), 0u);
}

TEST(Parts, OvertakeNobodyWhereOrderIsKept) {
  Parted of;
  Group& first = of.running("0 1");
  Group& second = of.running("2 3");
  of.answer(second, 1);
  EXPECT_EQ(of.parts.take(), nullptr);
  first.state = Group::State::done;
  ASSERT_NE(of.parts.take(), nullptr);
  EXPECT_EQ(text_of(of.ring.groups()[1]->slots), "2");
}

TEST(Parts, InAnyOrderOvertakeAllButAMark) {
  for (const bool has_mark : {false, true}) {
    Parted of(mapped(4, Order::arbitrary));
    of.running(has_mark ? "0 |0" : "0 1");
    of.answer(of.running("2 3"), 1);
    EXPECT_EQ(of.parts.take() == nullptr, has_mark);
  }
}

TEST(Parts, OfAStreamOpAreItsResultsAndNoInputs) {
  Parted of(range(10).batch(2).node());
  Group& group = of.running("0 1 2 3", 100);
  group.memory.reserved = 800;
  group.results = slots_of("10 11 12");
  of.answer(group, 2);
  Group* const part = of.parts.take();
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(text_of(part->slots), "10 11");
  EXPECT_EQ(of.parts.inputs_of(*part), 0);
  EXPECT_EQ(part->inputs.admitted, 0);
  EXPECT_EQ(part->inputs.bytes, 0);
  EXPECT_EQ(group.inputs.admitted, 4);
  EXPECT_EQ(of.sum(&Group::memory, &CallMemory::reserved), 800);
}

TEST(Parts, CountInputsThatWereRun) {
  Parted of, source(mapped(), 0);
  Group group;
  group.slots = slots_of("0 e 1");
  EXPECT_EQ(of.parts.inputs_of(group), 2);
  EXPECT_EQ(source.parts.inputs_of(group), 3) << "what it made";
}

TEST(Parts, TakeBackWhatACallHasNotBegun) {
  Parted of;
  Group& group = of.running("0 1 2 |0", 100);
  admit(of.ring, slots_of("5"));
  group.give_back(1);
  of.parts.take_back(group, of.cancellation);
  EXPECT_EQ(text_of(of.ring), "0, 1 2 |0, 5");
  const Group& rest = of.ring.first_ready();
  EXPECT_EQ(rest.kind, Group::Kind::came_back);
  EXPECT_TRUE(rest.mark);
  EXPECT_FALSE(group.mark);
  EXPECT_EQ(rest.place.number, group.place.number + 1);
  EXPECT_EQ(rest.place.first_ordinal, group.place.first_ordinal + 1);
  EXPECT_EQ(rest.inputs.admitted, 3);
  EXPECT_EQ(of.sum(&Group::inputs, &InputCounts::admitted), of.ring.in_window());
  EXPECT_EQ(group.inputs.elements, 1);
  EXPECT_EQ(of.sum(&Group::inputs, &InputCounts::bytes), 300);
  EXPECT_EQ(of.ring.ready(), 2u);
}

TEST(Parts, TakeBackNothingThatIsUnwantedButItsMark) {
  Parted of;
  Group& group = of.running("0 1 |0");
  group.is_unwanted = true;
  group.give_back(1);
  of.parts.take_back(group, of.cancellation);
  EXPECT_EQ(text_of(of.ring), "0, |0");
  EXPECT_TRUE(of.ring.first_ready().is_unwanted);
}

TEST(Parts, GiveWhatAnOpenCallHasDone) {
  Parted of;
  Group& group = of.running("0 1 2");
  of.answer(group, 2);
  EXPECT_EQ(text_of(of.parts.answers_of(group)), "0 1");
  EXPECT_EQ(text_of(of.parts.answers_of(group)), "");
  EXPECT_EQ(text_of(of.parts.answers_of(of.running("3"))), "") << "nobody can look into it";
}

}  // namespace
}  // namespace penstock::exec
