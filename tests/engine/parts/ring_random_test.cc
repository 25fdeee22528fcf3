// The ring against a naive look at all of its groups, step by step.
#include "lib/exec/ring.h"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

class Driven : PartOf {
 public:
  Driven(const graph::NodeRef& node, std::uint32_t seed) : PartOf(node), random_(seed) {}

  void step() {
    const RingBounds bounds{.window = draw(1, 12), .has_plenty = draw(0, 5) == 0};
    switch (draw(0, 6)) {
      case 0:
      case 1: return add(draw(1, 6));
      case 2:
      case 3: return begin(bounds);
      case 4: return finish(one_that_is(Group::State::running), draw(0, 4));
      case 5: return leave();
      default: return cancel(one_that_is(Group::State::waiting));
    }
  }
  void check() {
    std::vector<Group*> waiting;
    std::int64_t admitted = 0;
    for (const auto& group : ring_.groups()) {
      admitted += group->inputs.admitted;
      if (group->state == Group::State::waiting) waiting.push_back(group.get());
    }
    ASSERT_EQ(ring_.in_window(), admitted);
    for (const RingBounds bounds : {RingBounds{3, false}, {8, false}, {8, true}}) check_startable(waiting, bounds);
    std::vector<Group*> line;
    for (; ring_.ready() > 0; ring_.pop_ready()) line.push_back(&ring_.first_ready());
    ASSERT_EQ(line, waiting);
    std::ranges::shuffle(line, random_);
    for (Group* group : line) ring_.put_in_line(*group);
  }
  std::int64_t begun = 0, held_back = 0, left = 0;

 private:
  std::int64_t draw(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  Group* one_that_is(Group::State state) {
    std::vector<Group*> found;
    for (const auto& group : ring_.groups()) {
      if (group->state == state) found.push_back(group.get());
    }
    return found.empty() ? nullptr
                         : found[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(found.size()) - 1))];
  }
  void add(std::int64_t count) {
    if (ring_.groups().size() < 12) admit(ring_, slots_of(count_up(count) + (draw(0, 3) == 0 ? "|0" : "")));
  }
  void begin(const RingBounds& bounds) {
    if (ring_.ready() == 0) return;
    Group& group = ring_.first_ready();
    const std::int64_t count = ring_.startable(group, bounds);
    ++(count == 0 ? held_back : begun);
    if (count == 0) return;
    ring_.pop_ready();
    if (count < static_cast<std::int64_t>(group.slots.size())) ring_.keep_first(group, count);
    group.state = Group::State::running;
  }
  // Or is broken off.
  void finish(Group* group, std::int64_t chance) {
    if (group == nullptr) return;
    group->state = chance == 0 ? Group::State::waiting : Group::State::done;
    if (chance == 0) ring_.put_in_line(*group);
  }
  void leave() {
    std::size_t place = 0;
    while (place < ring_.groups().size() && ring_.groups()[place]->state != Group::State::done) ++place;
    if (place == ring_.groups().size() || (place > 0 && traits.plan.order == Order::kept)) return;
    ring_.retire(place);
    ++left;
  }
  static void cancel(Group* group) {
    if (group != nullptr) std::erase_if(group->slots, [](const Slot& slot) { return slot.is_element(); });
  }

  // How many slots of the group at that place may begin, as the rules say it.
  std::int64_t may_begin(std::size_t place, const RingBounds& bounds) const {
    const auto& groups = ring_.groups();
    if (bounds.has_plenty && place > 0) return 0;
    std::size_t open = 0;
    while (open < place && groups[open]->state == Group::State::done) ++open;
    std::int64_t before = 0;
    for (std::size_t i = open; i < place; ++i) {
      if (traits.keeps_passes_apart && groups[i]->mark) return 0;
      before += groups[i]->inputs.admitted;
    }
    const std::int64_t size = std::max<std::int64_t>(static_cast<std::int64_t>(groups[place]->slots.size()), 1);
    return traits.keeps_near && before > 0 ? std::max<std::int64_t>(std::min(size, bounds.window - before), 0) : size;
  }
  void check_startable(const std::vector<Group*>& waiting, const RingBounds& bounds) const {
    std::int64_t in_a_row = 0;
    for (const Group* group : waiting) {
      const auto place = std::ranges::find(ring_.groups(), group, [](const auto& other) { return other.get(); }) -
                         ring_.groups().begin();
      const std::int64_t count = may_begin(static_cast<std::size_t>(place), bounds);
      ASSERT_EQ(ring_.startable(*group, bounds), count);
      if (count > 0 && group == waiting[static_cast<std::size_t>(in_a_row)]) ++in_a_row;
      if (in_a_row == static_cast<std::int64_t>(waiting.size())) break;
    }
    ASSERT_EQ(ring_.startable_groups(bounds), in_a_row);
  }

  std::mt19937 random_;
  Ring ring_{traits, 2};
};

TEST(Ring, KeepsItsBooksWhateverComes) {
  for (const auto& node : {mapped(), mapped(4), mapped(4, Order::arbitrary)}) {
    Driven of(node, 7);
    for (int step = 0; step < 600 && !::testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE(::testing::Message() << "step " << step);
      of.step();
      of.check();
    }
    EXPECT_GT(std::min({of.begun, of.held_back, of.left}), 10) << "or nothing much has been tried";
  }
}

}  // namespace
}  // namespace penstock::exec
