// Two ops of your own, written against <penstock/op.h> alone and put into a chain with .then<U>().
//
//   SplitWords   element-wise: a line becomes its words; lines are split on all cores, in order
//   CountRepeats a stream op: sees word after word, and answers when a stretch of equal ones ends
#include <penstock/penstock.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ps = penstock;

namespace {

// 1 -> 0..n. run() is const and called by several threads at once, so it keeps nothing.
class SplitWords final : public ps::ElementwiseOp {
 public:
  std::string name() const override { return "split_words"; }
  ps::Flow flow(const ps::Flow&) const override { return {}; }  // how many words: nobody knows

  void run(std::span<ps::Slot> slots, ps::Context& context) const override {
    for (ps::Slot& slot : slots) {
      context.enter(slot);
      split(slot);
    }
  }

 private:
  // Answers the slot by itself: if it throws, the other slots of the span are not harmed.
  static void split(ps::Slot& slot) try {
    const auto line = slot.take<std::string>();
    if (line.find('<') != std::string::npos) throw std::invalid_argument("markup: " + line);
    std::istringstream stream(line);
    std::vector<ps::Element> words;
    for (std::string word; stream >> word;) words.emplace_back(std::move(word));
    slot.emit_many(std::move(words));  // none is fine, too
  } catch (...) {
    slot.fail(std::current_exception());
  }
};

struct Repeat {
  std::string word;
  int times = 0;
};

// The state of one run. One thread at a time, in order; clean at each begin_pass.
class CountState final : public ps::StreamState {
 public:
  void begin_pass(ps::Emitter&) override { now_ = {}; }
  void element(ps::Slot&& slot, ps::Emitter& out) override {
    auto word = slot.take<std::string>();
    if (word != now_.word) give(out);
    now_ = {std::move(word), now_.times + 1};
    last_ = slot.stamp;
  }
  void pass_end(ps::Emitter& out) override { give(out); }

 private:
  void give(ps::Emitter& out) {
    if (now_.times > 0) out.emit(ps::Element(std::exchange(now_, {})), last_);
  }

  Repeat now_;
  ps::Stamp last_;  // what is made of several elements has the last one's stamp
};

class CountRepeats final : public ps::StreamOp {
 public:
  std::string name() const override { return "count_repeats"; }
  ps::Flow flow(const ps::Flow&) const override { return {}; }
  std::unique_ptr<ps::StreamState> open(std::uint64_t) const override { return std::make_unique<CountState>(); }
};

// Prints the next result or error; a failed element does not end the run. False at the end.
bool print_next(ps::Run<Repeat>& run) {
  try {
    const auto repeat = run.next();
    if (repeat) std::cout << repeat->times << " x " << repeat->word << '\n';
    return repeat.has_value();
  } catch (const ps::ElementError& error) {
    std::cout << "line " << error.place().source_ordinal << " failed in " << error.place().op << ": "
              << ps::message_of(error.cause()) << '\n';
    return true;
  }
}

}  // namespace

int main() {
  const std::vector<std::string> lines{"tea tea coffee", "", "<b>milk</b>", "coffee tea"};
  auto repeats = ps::from_vector(lines)
                     .then<std::string>(std::make_shared<SplitWords>())
                     .then<Repeat>(std::make_shared<CountRepeats>());
  auto run = repeats.start();
  while (print_next(run)) {
  }
}

// Prints:
//   2 x tea
//   line 2 failed in split_words: markup: <b>milk</b>
//   2 x coffee
//   1 x tea
