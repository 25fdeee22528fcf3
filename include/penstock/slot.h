// Slot: one place in the stream, with the element that is under way there, and its Stamp: where that element comes
// from. What ops read and answer (op.h).
//
//   const auto add_one = [](std::span<ps::Slot> slots) {
//     for (ps::Slot& slot : slots) slot.emit(ps::Element(slot.value.get<std::int64_t>() + 1));
//   };
//
// Vocabulary. An *epoch* is what one `for` loop over a dataset delivers. A *pass* is one run through the source; an
// epoch has several where the pipeline holds a repeat. Ordinals and passes count from 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <penstock/detail/results.h>
#include <penstock/element.h>

#pragma GCC visibility push(default)

namespace penstock {

// Where an element comes from. It never depends on threads, so random numbers, error texts and checkpoints hang on it.
struct Stamp {
  std::uint32_t epoch = 0;
  std::uint32_t pass = 0;           // pass within the epoch
  std::uint64_t sequence : 48 = 0;  // pass within the run; only for the engine
  std::uint64_t source : 16 = 0;    // which of a tree's sources, in the order of its inputs
  std::int64_t ordinal = 0;         // position in the source (of a file list: its line)
  std::uint64_t sub = 0;  // which of several elements made of that one: 0, or 1 + index; nested fan-outs are mixed

  Stamp child(std::uint64_t index) const noexcept {
    Stamp stamp = *this;
    stamp.sub = sub * 0x9E3779B97F4A7C15u + index + 1;
    return stamp;
  }
};

namespace detail {
// What has just been thrown. Of std::bad_alloc always the same one: while there is no memory, exceptions lie in a
// reserve of the C++ library's that has room for some hundred, and who is refused there ends the process.
std::exception_ptr current_failure() noexcept;
}  // namespace detail

// One place in the stream: an element with its stamp, or what became of it. A body reads `value` and answers by one of
// emit, emit_many, drop, fail; answering nothing leaves the input as the output. Of several answers the last one
// counts.
class Slot {
 public:
  enum class Kind : std::uint8_t { element, error, pass_end, dropped, many, failed, save_point };

  Slot() noexcept = default;
  Slot(Element element, const Stamp& at) : value(std::move(element)), stamp(at) {}

  Element value;
  Stamp stamp;

  template <class T> T take() { return value.take<T>(); }
  void emit(Element element) noexcept {
    value = std::move(element);
    kind_ = Kind::element;
  }
  void drop() noexcept {
    value.reset();
    kind_ = Kind::dropped;
  }
  void emit_many(std::vector<Element> elements) {
    emit_many(std::make_unique<detail::ListResults<Element>>(std::move(elements)));
  }
  void emit_many(std::unique_ptr<detail::Results> results) {
    value = Element(std::move(results));
    kind_ = Kind::many;
  }
  void fail(std::exception_ptr error) {
    value = Element(std::move(error));
    kind_ = Kind::failed;
  }

  // For the engine.
  Kind kind() const noexcept { return kind_; }
  void set_kind(Kind kind) noexcept { kind_ = kind; }
  bool is_element() const noexcept { return kind_ == Kind::element; }
  // Whether it is an element or an error: what is neither says something about the stream.
  bool is_item() const noexcept { return kind_ != Kind::pass_end && kind_ != Kind::save_point; }
  detail::Results& results() { return *value.get<std::unique_ptr<detail::Results>>(); }  // of one of many
  const detail::Results& results() const { return *value.get<std::unique_ptr<detail::Results>>(); }
  std::uint8_t level() const noexcept { return level_; }  // of a pass_end: how many repeats ended with it
  void set_level(std::uint8_t level) noexcept { level_ = level; }
  // Charged to the memory budget: what the value holds, and the slot itself (sizeof(Slot)).
  std::int64_t bytes() const noexcept { return bytes_; }
  void set_bytes(std::int64_t bytes) noexcept { bytes_ = bytes; }
  // Of them, those of the value: what is left to hold where it is kept without its slot.
  std::int64_t value_bytes() const noexcept {
    return std::max(bytes_ - static_cast<std::int64_t>(sizeof(Slot)), std::int64_t{0});
  }

 private:
  std::int64_t bytes_ = 0;
  Kind kind_ = Kind::element;
  std::uint8_t level_ = 0;
};

}  // namespace penstock

#pragma GCC visibility pop
