// Turns: which of the places of an interleave gives next. The order is tf.data's:
//
//   the place at the turn has a dataset: it gives up to block_length slots, or has no more and becomes free
//   it has none: the next input takes it, and the turn stays; where there is no more input, the turn goes on
//
// A pass ends when there is no input and no dataset.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/state.h>

namespace penstock::exec {

// The next place that is taken, going round from the one behind `from`: where no input is left, all others are passed
// over. One must be.
template <class Places, class IsTaken>
std::size_t next_taken(const Places& places, std::size_t from, const IsTaken& is_taken) {
  for (std::size_t i = from + 1; i < places.size(); ++i) {
    if (is_taken(places[i])) return i;
  }
  for (std::size_t i = 0;; ++i) {
    if (is_taken(places[i])) return i;
  }
}

class Turns {
 public:
  Turns(std::int64_t cycle_length, std::int64_t block_length) : cycle_(cycle_length), block_(block_length) {}

  std::size_t place() const noexcept { return static_cast<std::size_t>(place_); }
  // The place has given a slot.
  void give() noexcept {
    if (++given_ == block_) go_on();
  }
  void go_on() noexcept {
    given_ = 0;
    if (++place_ == cycle_) place_ = 0;
  }
  void go_to(std::size_t place) noexcept {
    given_ = 0;
    place_ = static_cast<std::int64_t>(place);
  }

  void save(StateWriter& out) const {
    out.number(place_);
    out.number(given_);
  }
  void restore(StateReader& in) {
    place_ = in.number(0, cycle_ - 1);
    given_ = in.number(0, block_ - 1);
  }

 private:
  std::int64_t cycle_;
  std::int64_t block_;
  std::int64_t place_ = 0;
  std::int64_t given_ = 0;  // of the block
};

}  // namespace penstock::exec
