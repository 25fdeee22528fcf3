// Feeds a StreamState as an engine would, without threads, and writes down what it answers.
//
//   EXPECT_EQ(run_pass(ops::take(2), "0 1 x 2"), "0 1 |");
//
// In the text a number is an element (std::int64_t), x an error; x3 in an answer is the error that
// came in at position 3 of the pass, ! a new error, | end_pass(), ~ an error that was dropped.
// Ordinals count elements and errors.
#pragma once

#include <penstock/error.h>
#include <penstock/op.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace penstock::testing {

inline Slot element_slot(Element value, const Stamp& stamp, std::int64_t bytes = 0) {
  Slot slot(std::move(value), stamp);
  slot.set_bytes(bytes);
  return slot;
}

inline Slot error_slot(const Stamp& stamp) {
  Slot slot(Element(), stamp);
  slot.fail(std::make_exception_ptr(std::runtime_error("planted")));
  slot.set_kind(Slot::Kind::error);
  return slot;
}

// The text of a slot's error.
inline std::string error_text(const Slot& slot) { return message_of(slot.value.get<std::exception_ptr>()); }

class RecordingEmitter final : public Emitter {
 public:
  void emit(Element value, const Stamp& stamp) override { slots.emplace_back(std::move(value), stamp); }
  void forward(Slot&& slot) override { slots.push_back(std::move(slot)); }
  void drop_error(Slot&&) override { mark("~"); }
  void end_pass() override { mark("|"); }

  // Everything so far, the elements printed by `print`.
  template <class Print> std::string text(Print&& print) const {
    std::vector<std::string> words;
    for (std::size_t i = 0; i <= slots.size(); ++i) {
      for (const auto& [place, word] : marks)
        if (place == i) words.push_back(word);
      if (i < slots.size()) words.push_back(slots[i].is_element() ? print(slots[i].value) : error_word(slots[i]));
    }
    return join(words);
  }

  std::vector<Slot> slots;

 private:
  static std::string error_word(const Slot& slot) {
    return slot.kind() == Slot::Kind::error ? "x" + std::to_string(slot.stamp.ordinal) : "!";
  }
  static std::string join(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return line;
  }
  void mark(const char* word) { marks.emplace_back(slots.size(), word); }

  std::vector<std::pair<std::size_t, std::string>> marks;  // before which slot
};

inline std::string print_integer(const Element& value) { return std::to_string(value.get<std::int64_t>()); }

// One run of a StreamOp: several passes, one after the other.
class StreamRun {
 public:
  explicit StreamRun(const StreamOp& op) : state_(op.open(0)) {}
  explicit StreamRun(const OpRef& op) : op_(op), state_(dynamic_cast<const StreamOp&>(*op).open(0)) {}

  // Goes on feeding after end_pass(), as an engine does that has read ahead.
  RecordingEmitter pass(const std::string& input, std::uint32_t epoch = 0, std::uint32_t number = 0) {
    RecordingEmitter out;
    state_->begin_pass(out);
    std::istringstream words(input);
    Stamp stamp{.epoch = epoch, .pass = number};
    for (std::string word; words >> word; ++stamp.ordinal) feed(word, stamp, out);
    end_pass(out);
    return out;
  }

  // As the engine does.
  void end_pass(Emitter& out) {
    while (state_->flush(out)) {
    }
    state_->pass_end(out);
  }

  StreamState& state() { return *state_; }

 private:
  void feed(const std::string& word, const Stamp& stamp, Emitter& out) {
    if (word == "x") {
      state_->error(error_slot(stamp), out);
    } else {
      state_->element(element_slot(Element(static_cast<std::int64_t>(std::stoll(word))), stamp), out);
    }
  }

  const OpRef op_;  // which the state may refer to
  std::unique_ptr<StreamState> state_;
};

// What one pass over `input` gives.
inline std::string run_pass(const OpRef& op, const std::string& input) {
  return StreamRun(op).pass(input).text(print_integer);
}

// "0 1 2 ... n-1"
inline std::string counting(std::int64_t n) {
  std::string text;
  for (std::int64_t i = 0; i < n; ++i) text += (i == 0 ? "" : " ") + std::to_string(i);
  return text;
}

}  // namespace penstock::testing
