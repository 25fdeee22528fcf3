// What a body makes of the slots of one call.
#include "lib/exec/body.h"

#include "tests/engine/lone_stage.h"
#include "tests/engine/support.h"

namespace penstock::exec {
namespace {

class AlwaysFailing final : public StreamState {
 public:
  void element(Slot&&, Emitter&) override { throw std::runtime_error("planted"); }
};

TEST(StreamBody, KeepsEachOfSeveralFailuresOfOneCall) {
  testing::NotingHost host(1 << 20);
  StreamBody body(std::make_unique<AlwaysFailing>(), 1, 0, host);
  Group group;
  group.place.first_ordinal = 10;
  for (std::int64_t i = 0; i < 3; ++i) group.slots.emplace_back(Element(i), Stamp{.ordinal = i});
  Context context({}, 0);
  body.run(group, context);
  ASSERT_EQ(group.slots.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(group.slots[i].kind(), Slot::Kind::failed);
    EXPECT_EQ(group.slots[i].stamp.ordinal, static_cast<std::int64_t>(i));
    EXPECT_EQ(body.failed_input(group, i), 10 + static_cast<std::int64_t>(i));
  }
}

Slot mark_of(std::uint32_t sequence) {
  Slot mark(Element(), Stamp{.sequence = sequence});
  mark.set_kind(Slot::Kind::pass_end);
  return mark;
}

// The pass that is over needs no cutting, and those behind it have the next numbers.
TEST(RepeatBody, CutsThePassBehindTheOneThatGaveNothing) {
  testing::NotingHost host(1 << 20);
  RepeatBody body(1, 0, host);
  Group group;
  group.slots.emplace_back(Element(std::int64_t{1}), Stamp{.sequence = 6});
  group.slots.push_back(mark_of(6));
  group.slots.push_back(mark_of(7));
  Context context({}, 0);
  body.run(group, context);
  ASSERT_EQ(host.cuts.size(), 1u);
  EXPECT_EQ(host.cuts[0].depth, 1u);
  EXPECT_EQ(host.cuts[0].sequence, 8u);
}

// Its answers are what it got.
class LeavesAsItWas final : public ElementwiseOp {
 public:
  std::string name() const override { return "leaves_as_it_was"; }
  Flow flow(const Flow& input) const override { return input; }
  void run(std::span<Slot> slots, Context& context) const override {
    for (std::size_t i = 0; i < slots.size() && context.go_on(i); ++i) {
    }
  }
};

// Of a borrower they may leave before the call ends, and be kept.
TEST(ElementwiseBody, MakesTheValuesOfAnswersThatMayLeaveItsOwn) {
  const std::vector<std::string> values(5, std::string(100, 'x'));
  ElementwiseBody body(std::make_shared<LeavesAsItWas>(), true);
  Group group;
  for (const std::string& value : values) group.slots.emplace_back(Element::referring_to(value), Stamp());
  group.call = std::make_unique<OpenCall>();
  group.call->open(values.size(), false);
  Context context({}, 0);
  body.run(group, context);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Element& answer = group.slots[i].value;
    EXPECT_EQ(answer.get<std::string>(), values[i]);
    EXPECT_NE(&answer.get<std::string>(), &values[i]);
  }
}

}  // namespace
}  // namespace penstock::exec
