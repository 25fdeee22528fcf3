// ElementStore: what a stream op keeps, in less memory than slots would take: 64 bytes an element beside what its value
// holds elsewhere, 24 more as long as elements differ in size or pass, and 2 as long as they are of several sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <penstock/op.h>

#include "lib/core/chunked.h"
#include "lib/core/mostly_alike.h"

namespace penstock {

class ElementStore {
 public:
  struct Numbered {
    Slot slot;
    std::int64_t input = 0;  // which of its op's, in the pass
  };

  bool empty() const noexcept { return held_.empty(); }
  std::size_t size() const noexcept { return held_.size(); }

  // Throws std::bad_alloc: then the element is lost, and nothing else.
  void push_back(Numbered&& slot);
  void swap_with_last(std::size_t i) noexcept;
  Numbered take_last() noexcept;
  void clear() noexcept;

  std::int64_t input(std::size_t i) const noexcept { return held_[i].input; }

  // As the memory budget counts them.
  std::int64_t bytes() const noexcept;

  // Beside what bytes_of tells of a value, where elements are alike.
  static constexpr std::int64_t bytes_of_place() noexcept { return sizeof(Held); }

 private:
  struct Held {
    Element value;
    std::int64_t ordinal;
    std::uint64_t sub;
    std::int64_t input;
  };
  struct Kind {
    std::uint64_t sequence : 48 = 0;
    std::uint32_t epoch = 0, pass = 0;
    std::int64_t bytes = 0;  // of the value
    bool operator==(const Kind&) const = default;
  };

  Chunked<Held> held_;
  MostlyAlike<Kind> kinds_;
  MostlyAlike<std::uint16_t> sources_;
  std::int64_t value_bytes_ = 0;  // of all values
};

}  // namespace penstock
