// In which pass each input of a merge is, and which passes its branch is asked to end.
#include "lib/exec/port_queues.h"

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

// Of a merge with one repeat behind it.
struct OneInput {
  explicit OneInput(std::size_t repeats_in_branch = 0) : queues(1, {PortPlan{.depth = repeats_in_branch}}, 1, host) {
    queues.news().use_signs(signs);
  }

  void end_pass(std::uint64_t sequence) {
    const Slot mark = std::move(slots_of("|0", sequence).front());
    queues.go_on_to(mark.level(), PassControl::round_of(mark));
  }
  void arrive(const std::string& text, std::uint64_t sequence) {
    queues.arrive(0, slots_of(text, sequence));
    queues.take_arrivals();
  }
  // The next slot of the merge's pass.
  std::string next() { return queues.has_slot(0) ? text_of(queues.pop(0)) : "nothing"; }
  // What the branch was asked for since the last time: by how many repeats, in which of its passes.
  std::string asked() {
    std::string text;
    for (const auto& [port, cut] : std::exchange(host.input_cuts, {}))
      text += std::to_string(cut.depth) + ":" + std::to_string(cut.sequence) + " ";
    return text;
  }

  NotingHost host{kBudget};
  MergeSigns signs{1};
  PortQueues queues;
};

// Its source may have ended the first of them by itself, so that what it is asked when the merge goes on is outdated.
TEST(PortQueues, AskAnInputThatIsBehindAgainWithEachMarkOfIt) {
  OneInput of;
  for (std::uint64_t pass = 0; pass < 3; ++pass) of.end_pass(pass);
  EXPECT_EQ(of.asked(), "0:0 0:0 0:0 ");
  of.arrive("10 |0", 0);
  EXPECT_EQ(of.next(), "nothing");
  EXPECT_EQ(of.asked(), "0:1 ");
  of.arrive("11 |0 12 |0 13", 1);
  EXPECT_EQ(of.next(), "13") << "the merge is in its fourth pass";
  EXPECT_EQ(of.asked(), "0:2 ");
}

TEST(PortQueues, AskAnInputThatIsBehindAgainWithEachMarkOfItsOwnRepeats) {
  OneInput of(1);
  of.end_pass(0);
  EXPECT_EQ(of.asked(), "1:0 ");
  of.arrive("10 |0 11 |0", 0);
  EXPECT_EQ(of.next(), "nothing");
  EXPECT_EQ(of.asked(), "1:1 1:2 ");
  of.arrive("12 |1 13", 2);
  EXPECT_EQ(of.next(), "13");
  EXPECT_EQ(of.asked(), "");
}

// A save point may lie far back: slots are counted from it, whatever the branch repeats.
TEST(PortQueues, CountWhatWasTakenOverTheRepeatsOfAnInput) {
  OneInput of(1);
  of.arrive("10 |0 11 12", 0);
  for (const char* expected : {"10", "11", "12"}) EXPECT_EQ(of.next(), expected);
  StateWriter out;
  EXPECT_EQ(of.queues.save(out).front().since.slots, 3);
}

}  // namespace
}  // namespace penstock::exec
