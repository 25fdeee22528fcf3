// What tests of a stage's parts share: the traits of a stage in a small pipeline, and inputs for it, written as text.
// No stage, no thread, no lock.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "lib/exec/compile.h"
#include "lib/exec/meter.h"
#include "lib/exec/ring.h"
#include "lib/exec/stage_signs.h"
#include "lib/exec/stage_traits.h"
#include "tests/engine/lone_stage.h"

namespace penstock::testing {

inline constexpr std::int64_t kBudget = 1 << 20;  // bytes
inline constexpr exec::RingBounds kWide{.window = 1000, .has_plenty = false};

// To strings: their size is not known beforehand.
inline graph::NodeRef mapped(Tunable parallelism = AUTOTUNE, Order order = Order::kept) {
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  return range(100).map(text, {.parallelism = parallelism, .order = order}).node();
}
inline graph::NodeRef mapped_to_numbers() {
  return range(100).map([](std::int64_t value) { return value + 1; }).node();
}

// "0 1 e |0 2": elements, an error, the mark of a pass with a level, and the first element of the next pass. The first
// of them is of pass `sequence`.
inline exec::Slots slots_of(const std::string& text, std::uint64_t sequence = 0, std::int64_t bytes = 0) {
  exec::Slots slots;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool is_mark = word.front() == '|', is_error = word == "e";
    slots.emplace_back(is_mark || is_error ? Element() : Element(std::int64_t{std::stoll(word)}),
                       Stamp{.sequence = sequence & 0xFFFF'FFFF'FFFF});
    Slot& slot = slots.back();
    if (!is_mark) slot.set_bytes(bytes);
    if (is_error) slot.set_kind(Slot::Kind::error);
    if (!is_mark) continue;
    slot.set_kind(Slot::Kind::pass_end);
    slot.set_level(static_cast<std::uint8_t>(std::stoi(word.substr(1))));
    ++sequence;
  }
  return slots;
}

inline std::string text_of(const Slot& slot) {
  if (slot.kind() == Slot::Kind::pass_end) return "|" + std::to_string(slot.level());
  return slot.is_element() ? std::to_string(slot.value.get<std::int64_t>()) : "e";
}

inline std::string text_of(const exec::Slots& slots) {
  std::string text;
  for (const Slot& slot : slots) text += (text.empty() ? "" : " ") + text_of(slot);
  return text;
}

// Slots 0 to count - 1, as text.
inline std::string count_up(std::int64_t count) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += std::to_string(i) + " ";
  return text;
}

// As StageState::place() would have it.
inline void fill(exec::Group& group, exec::Slots slots) {
  group.inputs.admitted = static_cast<std::int64_t>(slots.size());
  group.slots = std::move(slots);
  group.inputs.elements = exec::elements_of(group.slots);
  group.inputs.bytes = exec::bytes_of(group.slots);
  const Slot& last = group.slots.back();
  group.place.sequence = group.slots.front().stamp.sequence;
  group.mark = exec::PassEnd::of(last);
}

inline exec::Group& admit(exec::Ring& ring, exec::Slots&& slots) {
  auto group = ring.new_group();
  fill(*group, std::move(slots));
  ring.append(std::move(group));
  return *ring.groups().back();
}

// All groups of the ring, oldest first: "0 1, 2 |0".
inline std::string text_of(const exec::Ring& ring) {
  std::string text;
  for (const auto& group : ring.groups()) text += (group == ring.groups().front() ? "" : ", ") + text_of(group->slots);
  return text;
}

// A call on so many inputs has ended.
inline void teach(exec::Meter& meter, std::int64_t inputs, std::int64_t ns_each, std::int64_t bytes_each) {
  exec::Sealed results;
  results.bytes = inputs * bytes_each;
  results.elements = inputs;
  results.largest = bytes_each;
  meter.learn(exec::Group(), inputs, results.bytes, inputs * ns_each);
  meter.count_results(results);
}

// The surroundings of a part of stage `index`.
struct PartOf {
  // `behind`: stages behind it.
  explicit PartOf(const graph::NodeRef& node = mapped(), std::size_t index = 1, std::int64_t memory = kBudget,
                  std::size_t behind = 0)
      : plan(exec::compile(node)), host(memory, index + 1 + behind), traits(plan->stages[index], index, host) {
    host.introduce(traits, signs);
  }

  // Slots whose bytes are on the books.
  exec::Slots charged(const std::string& text, std::int64_t bytes, std::uint64_t sequence = 0) {
    exec::Slots slots = slots_of(text, sequence, bytes);
    host.memory().charge(exec::bytes_of(slots));
    return slots;
  }
  std::int64_t used() { return host.memory().used(); }

  const std::shared_ptr<const exec::Plan> plan;
  NotingHost host;
  const exec::StageTraits traits;
  exec::StageSigns signs;
  exec::StageKnobs knobs{.parallelism = 4, .window = 8, .buffer = 2};
};

}  // namespace penstock::testing
