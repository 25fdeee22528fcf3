// What a stage lets go of when nobody wants more of a pass.
#include "lib/exec/cancellation.h"

#include "lib/core/batch_block.h"
#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

struct Cancelling : PartOf {
  explicit Cancelling(std::size_t index = 1) : PartOf(mapped(), index) {}

  Inbox inbox{traits, 3};
  Ring ring{traits, 3};
  Meter meter{traits};
  Sizes sizes{traits, signs, knobs, meter};
  Lanes lanes{traits, ring, sizes, knobs};
  Folded folded{signs};
  const std::shared_ptr<RowLedger> ledger =
      std::make_shared<RowLedger>(BatchAhead{.size = 4, .declares = Declares::one_each});
  Cancellation cancellation{traits, inbox, ring, lanes, folded, ledger.get()};

  Group& group(const std::string& text, std::uint64_t sequence) { return admit(ring, charged(text, 100, sequence)); }
};

TEST(Cancellation, LetsGoOfAPassUpToItsMark) {
  Cancelling of;
  of.group("0 1", 0);
  of.group("2 e |0", 0);
  of.group("3", 1);
  of.cancellation.cancel(0, 0, 0);
  EXPECT_EQ(text_of(of.ring), ", |0, 3");
  EXPECT_EQ(of.used(), 100) << "of the next pass";
  EXPECT_EQ(of.ring.in_window(), 6) << "they keep their places until they have left";
  EXPECT_EQ(of.ring.groups().front()->inputs.bytes, 0);
  EXPECT_FALSE(of.ring.groups().back()->is_unwanted);
  Slots dropped;
  of.inbox.swap_dropped(dropped);
  EXPECT_EQ(text_of(dropped), "0 1 2 e");
}

TEST(Cancellation, LeavesThePassBeforeAlone) {
  Cancelling of;
  of.group("0", 0);
  of.group("1 |0", 0);
  of.group("2", 1);
  of.cancellation.cancel(0, 1, 1);
  EXPECT_EQ(text_of(of.ring), "0, 1 |0, ");
}

TEST(Cancellation, GoesOnUntilAMarkOfThatDepth) {
  Cancelling of;
  of.group("0 |0", 0);
  of.group("1 |1", 1);
  of.group("2", 2);
  of.cancellation.cancel(1, 0, 0);
  EXPECT_EQ(text_of(of.ring), "|0, |1, 2");
}

TEST(Cancellation, LeavesOutWhatIsStillToComeOfThePass) {
  Cancelling of;
  of.inbox.receive(of.charged("0", 100));
  of.group("1", 0);
  of.cancellation.cancel(0, 0, 0);
  of.inbox.receive(of.charged("2 |0 3", 100));
  Group first, second;
  of.inbox.fill(first, 100);
  of.inbox.fill(second, 100);
  EXPECT_EQ(text_of(first.slots), "|0");
  EXPECT_EQ(text_of(second.slots), "3");
  EXPECT_EQ(of.used(), 100);
}

TEST(Cancellation, DoesNothingToAPassWhoseMarkIsInTheRingOrHasLeft) {
  Cancelling of;
  of.inbox.receive(slots_of("0 |0 1"));
  auto first = of.ring.new_group();
  of.inbox.fill(*first, 100);
  fill(*first, std::move(first->slots));
  of.ring.append(std::move(first));
  of.cancellation.cancel(0, 0, 0);
  Group next;
  of.inbox.fill(next, 100);
  EXPECT_EQ(text_of(next.slots), "1") << "what comes is of another pass";
  of.ring.retire(0);
  of.group("2", 1);
  of.cancellation.cancel(0, 0, 0);
  EXPECT_EQ(text_of(of.ring), "2");
}

TEST(Cancellation, HasWhatRunsStopAndLetsWhatIsDoneLeave) {
  Cancelling of;
  Group& running = of.group("0 1", 0);
  Group& done = of.group("2", 0);
  running.state = Group::State::running;
  running.call = std::make_unique<OpenCall>();
  running.call->open(2, false);
  done.state = Group::State::done;
  of.cancellation.cancel(0, 0, 0);
  EXPECT_TRUE(running.is_unwanted);
  EXPECT_TRUE(running.call->progress.is_wanted_back);
  EXPECT_EQ(text_of(of.ring), "0 1, 2");
  EXPECT_EQ(of.used(), 300);
}

TEST(Cancellation, OfASourceTouchesNoGroup) {
  Cancelling of(0);
  of.group("0", 0);
  of.cancellation.cancel(0, 0, 0);
  EXPECT_EQ(text_of(of.ring), "0") << "it looks itself whether its pass is over";
}

TEST(Cancellation, TakesBackWhatTheGroupAskedFor) {
  Cancelling of;
  Group& group = of.group("0", 0);
  group.memory.needs = 100;
  group.memory.hint = 50;
  of.cancellation.cancel(group);
  EXPECT_EQ(group.memory.needs, 0);
  EXPECT_EQ(group.memory.hint, -1);
}

TEST(Cancellation, LetsGoOfResultsThatHaveNoSlotsYet) {
  Cancelling of;
  Group& group = of.group("0", 0);
  group.state = Group::State::done;
  group.folded.answers = of.charged("1 2 |0", 100);
  group.folded.unfolded = 1;
  of.folded.count(group, 200, 50);
  of.cancellation.cancel(0, 0, 0);
  EXPECT_EQ(text_of(group.slots), "0") << "these have theirs";
  EXPECT_EQ(text_of(group.folded.answers), "|0");
  EXPECT_EQ(group.folded.unfolded, 0u);
  EXPECT_EQ(of.folded.bytes(), 0);
  EXPECT_EQ(of.used(), 100);
}

TEST(Cancellation, LetsGoOfThemWhileTheyWaitForTheirSlotsToo) {
  Cancelling of;
  Group& group = of.group("1 2 |0", 0);
  group.folded.is_unfolding = true;
  of.folded.count(group, 200, 50);
  of.folded.put_in_line(group);
  of.cancellation.cancel(0, 0, 0);
  EXPECT_EQ(text_of(group.slots), "|0");
  EXPECT_EQ(of.folded.size(), 1) << "the mark is still to leave";
  EXPECT_EQ(of.folded.bytes(), 0);
  EXPECT_EQ(of.used(), 0);
}

TEST(Cancellation, GivesThePlacesInTheBatchBack) {
  Cancelling of;
  const auto row = [&](std::int64_t turn) {
    const Tensor place = of.ledger->row(turn, 0, DType::i64, {4});
    const detail::BatchBlock::Row at = detail::BatchBlock::row_of(place);
    return at.block == nullptr ? "-" : std::to_string(at.block->number()) + ":" + std::to_string(at.index);
  };
  Group& first = of.group("0 1 |0", 0);
  Group& second = of.group("2 3", 1);
  first.place.first_turn = of.ledger->admit(first.slots);
  second.place.first_turn = of.ledger->admit(second.slots);
  Group& third = of.group("4", 1);
  third.place.first_turn = of.ledger->admit(third.slots);
  EXPECT_EQ(row(third.place.first_turn), "1:2") << "behind the batch that the mark ends";
  of.cancellation.cancel(second);
  EXPECT_EQ(row(first.place.first_turn + 1), "0:1") << "before it nothing moves";
  EXPECT_EQ(row(third.place.first_turn), "1:0");
  of.cancellation.cancel(first);
  EXPECT_EQ(text_of(of.ring), "|0, , 4");
  EXPECT_EQ(row(third.place.first_turn), "0:0") << "an empty batch is none";
}

}  // namespace
}  // namespace penstock::exec
