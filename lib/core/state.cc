#include <penstock/state.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include <penstock/error.h>

#include "lib/core/varint.h"

namespace penstock {
void StateWriter::number(std::int64_t value) { append_varint(bytes_, zigzag(value)); }

void StateWriter::text(std::string_view value) {
  append_varint(bytes_, value.size());
  bytes_ += value;
}

// Large buffers list all of what they hold, so that is kept as small as can be at once, and written where there is room
// already: that takes half the time of append_varint().
void StateWriter::held(std::int64_t input) {
  if (held_.size() < held_bytes_ + kLongestVarint) held_.resize(2 * held_.size() + kLongestVarint);
  held_bytes_ =
      static_cast<std::size_t>(write_varint(&held_[held_bytes_], static_cast<std::uint64_t>(input)) - held_.data());
  least_held_ = held_count_ == 0 ? input : std::min(least_held_, input);
  ++held_count_;
}

std::string StateWriter::take_held() noexcept {
  held_.resize(std::exchange(held_bytes_, 0));
  return std::move(held_);
}

void StateWriter::stamp(const Stamp& value) {
  number(value.epoch);
  number(value.pass);
  number(static_cast<std::int64_t>(std::uint64_t{value.source}));
  number(value.ordinal);
  number(static_cast<std::int64_t>(value.sub));
}

void StateReader::refuse() {
  throw Error(ErrorCode::data_loss,
              "what the checkpoint says of an op's state is not what the op writes. Take another copy or an earlier "
              "checkpoint");
}

std::uint64_t StateReader::varint() {
  const auto value = take_varint(bytes_);
  if (!value) refuse();
  return *value;
}

std::int64_t StateReader::number() { return from_zigzag(varint()); }

std::int64_t StateReader::number(std::int64_t least, std::int64_t most) {
  const std::int64_t value = number();
  if (value < least || value > most) refuse();
  return value;
}

std::int64_t StateReader::count() { return number(0, std::int64_t{1} << 62); }

std::string_view StateReader::text() {
  const std::uint64_t size = varint();
  if (size > bytes_.size()) refuse();
  const std::string_view text = bytes_.substr(0, static_cast<std::size_t>(size));
  bytes_.remove_prefix(text.size());
  return text;
}

Stamp StateReader::stamp() {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  Stamp stamp;
  stamp.epoch = static_cast<std::uint32_t>(number(0, kMost));
  stamp.pass = static_cast<std::uint32_t>(number(0, kMost));
  stamp.source = static_cast<std::uint64_t>(number(0, 0xFFFF)) & 0xFFFF;
  stamp.ordinal = number();
  stamp.sub = static_cast<std::uint64_t>(number());
  return stamp;
}

StateReader::Held StateReader::take_held() {
  Held held = take_held_or_error();
  if (held.slot.is_element()) return held;
  const auto& cause = held.slot.value.get<std::exception_ptr>();
  throw Error(code_of(cause), "an element that was held when the checkpoint was taken fails this time: " +
                                  message_of(cause) + ". Resume once more, or start the epoch anew, in another run");
}

StateReader::Held StateReader::take_held_or_error() {
  if (!has_held()) refuse();
  return std::move(held_[next_++]);
}

void StateReader::expect_end() const {
  if (!bytes_.empty() || has_held()) refuse();
}

}  // namespace penstock
