// The inbox against a naive one, step by step.
#include "lib/exec/inbox.h"

#include <deque>
#include <random>
#include <vector>

#include "tests/engine/parts/part.h"

namespace penstock::exec {
namespace {

using namespace testing;

constexpr std::size_t kLevels = 3;

// What the inbox does, with a list of slots, a list of requests, and sums.
class Model {
 public:
  struct Item {
    std::string text;
    int level;  // of a mark; -1: none
    std::int64_t sequence;
  };
  static constexpr std::int64_t kBytes = 10;

  std::int64_t top_up(std::int64_t capacity) {
    const std::int64_t more = capacity - credits - static_cast<std::int64_t>(waiting.size());
    if (more < 0 || 2 * more < capacity) return 0;
    credits += more;
    return more;
  }
  void leave_out(std::size_t depth, std::int64_t sequence) {
    if (last_[depth] < sequence) unwanted_.push_back(depth);
  }
  std::string take(std::int64_t most) {
    std::string text;
    for (bool ends = false; most > 0 && !waiting.empty() && !ends; --most) {
      const Item item = waiting.front();
      waiting.pop_front();
      ends = item.level >= 0;
      if (ends || unwanted_.empty()) text += (text.empty() ? "" : " ") + item.text;
      if (!ends && !unwanted_.empty()) bytes -= kBytes;
      if (ends) take_mark(item);
    }
    return text;
  }

  std::deque<Item> waiting;
  std::int64_t credits = 0, bytes = 0;

 private:
  void take_mark(const Item& mark) {
    const auto level = static_cast<std::size_t>(mark.level);
    for (std::size_t depth = 0; depth <= level; ++depth) last_[depth] = mark.sequence;
    std::erase_if(unwanted_, [&](std::size_t depth) { return depth <= level; });
  }

  std::vector<std::size_t> unwanted_;
  std::vector<std::int64_t> last_ = std::vector<std::int64_t>(kLevels, -1);
};

// Both, and what drives them.
class Compared : PartOf {
 public:
  explicit Compared(std::uint32_t seed) : random_(seed) {}

  void step() {
    switch (draw(0, 3)) {
      case 0: return top_up(draw(1, 20));
      case 1: return receive(draw(0, model_.credits));
      case 2: return take(draw(1, 6));
      default: return leave_out(static_cast<std::size_t>(draw(0, kLevels - 1)), draw(0, 1));
    }
  }
  void check() {
    ASSERT_EQ(inbox_.waiting(), static_cast<std::int64_t>(model_.waiting.size()));
    ASSERT_EQ(used(), model_.bytes);
  }
  void top_up(std::int64_t capacity) {
    const std::int64_t more = inbox_.top_up(capacity);
    ASSERT_EQ(more, model_.top_up(capacity));
    if (more > 0) {
      ASSERT_EQ(model_.credits + inbox_.waiting(), capacity);
    }
  }
  std::int64_t passes() const { return pass_; }

 private:
  std::int64_t draw(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

  void receive(std::int64_t count) {
    if (count == 0) return;
    std::string packet;
    const auto first = static_cast<std::uint64_t>(pass_);
    for (model_.credits -= count; count > 0; --count) {
      const int level = draw(0, 3) == 0 ? static_cast<int>(draw(0, kLevels - 1)) : -1;
      const std::string text = level >= 0 ? "|" + std::to_string(level) : std::to_string(next_++);
      packet += text + " ";
      model_.waiting.push_back({text, level, pass_});
      model_.bytes += level < 0 ? Model::kBytes : 0;
      pass_ += level >= 0 ? 1 : 0;
    }
    inbox_.receive(charged(packet, Model::kBytes, first));
  }
  void take(std::int64_t most) {
    Group group;
    inbox_.fill(group, most);
    const auto before = static_cast<std::int64_t>(model_.waiting.size());
    ASSERT_EQ(text_of(group.slots), model_.take(most));
    ASSERT_EQ(group.inputs.admitted, before - static_cast<std::int64_t>(model_.waiting.size()));
  }
  // Seldom, or little else would come by: the pass of which something waits, or the one before it.
  void leave_out(std::size_t depth, std::int64_t before) {
    if (draw(0, 3) != 0 || model_.waiting.empty() || model_.waiting.front().sequence < before) return;
    const std::int64_t sequence = model_.waiting.front().sequence - before;
    inbox_.leave_out(depth, static_cast<std::uint64_t>(sequence), static_cast<std::uint64_t>(sequence));
    model_.leave_out(depth, sequence);
  }

  std::mt19937 random_;
  Inbox inbox_{traits, kLevels};
  Model model_;
  std::int64_t next_ = 0, pass_ = 0;
};

TEST(Inbox, KeepsItsBooksWhateverComes) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    Compared of(seed);
    for (int step = 0; step < 500 && !::testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", step " << step);
      of.step();
      of.check();
    }
    of.top_up(1000);  // whatever it has promised
    EXPECT_GT(of.passes(), 20) << "or nothing much has been tried";
  }
}

}  // namespace
}  // namespace penstock::exec
