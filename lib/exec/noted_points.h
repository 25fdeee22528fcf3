// NotedPoints: the save points of a stage's input that its own may begin at, by the inputs that they stand before.
//
// What an op holds for long lies far behind the first of them, so there would be no end to them: of many every other
// one is forgotten, and what begins at an earlier one reads more again.
//
// Thread safety: none; the stage's run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <penstock/slot.h>

#include "lib/exec/save_point.h"

namespace penstock::exec {

struct NotedPoint {
  std::int64_t pass = 0;
  SlotCount before;  // of the input
  SavePointRef point;
  Stamp stamp = {};

  std::tuple<std::int64_t, std::int64_t> place() const noexcept { return {pass, before.slots}; }
};

class NotedPoints {
 public:
  bool empty() const noexcept { return noted_.empty(); }
  void note(NotedPoint noted);  // behind all others
  // The last one that stands before this input, or before an earlier one of its pass. Those before it go. Null: what
  // comes before it is not known.
  const NotedPoint* last_before(std::int64_t pass, std::int64_t input);
  void clear() noexcept;
  std::int64_t bytes() const noexcept { return bytes_; }  // of their lists

 private:
  // Of two large shuffles, one behind the other, each has a list of what the first one holds.
  static constexpr std::size_t kMost = 16;

  static std::int64_t bytes_of(const NotedPoint& noted) noexcept;
  void forget(std::size_t begin, std::size_t end);

  std::vector<NotedPoint> noted_;
  std::int64_t bytes_ = 0;
};

}  // namespace penstock::exec
