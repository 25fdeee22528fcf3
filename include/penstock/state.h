// What the state of an op writes down, so that a run that is resumed goes on behind the same input.
//
// A run that cannot be resumed by position gives *save points* now and then: with each op's own state, and the numbers
// of the inputs that it holds. A checkpoint has the last one that the consumer has passed. To resume, sources begin at
// it, inputs that were held are read again, and each op takes what it has written. Elements are not written.
//
//   class Total final : public ps::StreamState {
//     void element(ps::Slot&& slot, ps::Emitter& out) override {
//       sum_ += slot.value.get<std::int64_t>();
//       out.emit(ps::Element(sum_), slot.stamp);
//     }
//     void begin_pass(ps::Emitter&) override { sum_ = 0; }
//     bool save(ps::StateWriter& out) const override {
//       out.number(sum_);
//       return true;
//     }
//     void restore(ps::StateReader& in) override { sum_ = in.number(); }
//     std::int64_t sum_ = 0;
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/slot.h>

#pragma GCC visibility push(default)

namespace penstock {

// Not thread-safe; used only during save().
class StateWriter {
 public:
  // One byte where it is between -64 and 63, up to ten.
  void number(std::int64_t value);
  void text(std::string_view value);
  void stamp(const Stamp& value);
  // An element of this pass that the state holds, by what Emitter::input_number() was when it came, and once. Not an
  // error: those go on at once. Of ops with one input.
  void held(std::int64_t input);

  // For the engine.
  const std::string& bytes() const noexcept { return bytes_; }
  std::string take_held() noexcept;  // as varints
  std::int64_t held_count() const noexcept { return held_count_; }
  std::int64_t least_held() const noexcept { return least_held_; }  // of those that there are

 private:
  std::string bytes_;
  std::string held_;  // and room for more
  std::size_t held_bytes_ = 0;
  std::int64_t held_count_ = 0, least_held_ = 0;
};

// Gives what was written, in that order. Not thread-safe; used only during restore(). What is read may be damaged, or
// another version's: check what numbers you go by, and refuse(). Each function throws Error(data_loss) where nothing of
// the kind was written there.
class StateReader {
 public:
  std::int64_t number();
  std::int64_t number(std::int64_t least, std::int64_t most);  // Error(data_loss) unless it is among these
  std::int64_t count();     // a number from 0 to 2^62: of what is counted one by one, which never overflows then
  std::string_view text();  // valid as long as the reader
  Stamp stamp();            // but for its sequence, which is the engine's

  // The inputs that were held, read again, in the order in which they were written, each with its number in this run,
  // by which it is to be held() from now on. take_held() throws where it fails this time, which ends the run; the slot
  // of the other may be an error.
  struct Held {
    Slot slot;
    std::int64_t input = 0;
  };
  bool has_held() const noexcept { return next_ < held_.size(); }
  Held take_held();
  Held take_held_or_error();
  std::int64_t next_input() const noexcept { return next_input_; }  // the number of what comes next

  [[noreturn]] static void refuse();  // Error(data_loss): the op has never written what was read

  // For the engine.
  explicit StateReader(std::string_view bytes, std::vector<Held> held = {}, std::int64_t next_input = 0) noexcept
      : bytes_(bytes), held_(std::move(held)), next_input_(next_input) {}
  void expect_end() const;  // Error(data_loss) if anything is left

 private:
  std::uint64_t varint();

  std::string_view bytes_;
  std::vector<Held> held_;
  std::size_t next_ = 0;
  std::int64_t next_input_;
};

}  // namespace penstock

#pragma GCC visibility pop
