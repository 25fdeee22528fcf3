// shuffle(buffer_size): random order. Documented at Dataset::shuffle.
//
// Three forms of one op, all decided by (seed, epoch, pass) alone:
//   over a stream                    a window of elements, from which each newcomer drives one out at random
//   over positions, smaller window   the same, with positions in place of elements
//   over positions, window >= size   a keyed permutation: no buffer, and any place in the order is found in O(1)
#pragma once

#include <penstock/op.h>
#include <penstock/options.h>

#include <optional>
#include <string>
#include <utility>

#include "lib/core/element_store.h"
#include "ops/shuffle_buffer.h"

namespace penstock::ops {

// At most `capacity` values, in a List of them: push_back, size, swap_with_last, take_last. Once it is full, every
// value that enters drives out one of all those inside, itself included: with capacity 1 the order stays.
template <class List> class ShuffleWindow {
 public:
  using Value = decltype(std::declval<List&>().take_last());

  explicit ShuffleWindow(std::int64_t capacity) : capacity_(static_cast<std::size_t>(capacity)) {}

  void start(const CounterRng& rng) { rng_ = rng; }
  void clear() noexcept { held_.clear(); }
  bool empty() const noexcept { return held_.empty(); }
  std::int64_t bytes() const noexcept { return held_.bytes(); }
  std::size_t size() const noexcept { return held_.size(); }
  std::int64_t input(std::size_t i) const noexcept { return held_.input(i); }
  std::uint64_t drawn() const noexcept { return rng_.position(); }
  void discard(std::uint64_t drawn) noexcept { rng_.discard(drawn); }
  void put_back(Value value) { held_.push_back(std::move(value)); }

  std::optional<Value> exchange(Value value) {
    held_.push_back(std::move(value));
    if (held_.size() < capacity_) return std::nullopt;
    return draw();
  }

  // One of those inside, each with the same probability. Needs !empty().
  Value draw() {
    held_.swap_with_last(rng_.uniform(std::size_t{0}, held_.size()));
    return held_.take_last();
  }

 private:
  std::size_t capacity_;
  CounterRng rng_;
  List held_;
};

// What decides the order of a pass.
struct ShuffleKey {
  std::uint64_t seed;
  bool reshuffle;  // another order each pass; else always that of epoch 0, pass 0

  CounterRng rng(std::uint32_t epoch, std::uint32_t pass) const;
  std::uint64_t when(std::uint32_t epoch, std::uint32_t pass) const;
};

class ShuffleOp final : public BufferedShuffleOp {
 public:
  // Error(invalid_argument) as BufferedShuffleOp's, and for a global seed.
  ShuffleOp(std::int64_t buffer_size, const ShuffleOptions& options);
  std::string name() const override { return "shuffle"; }
  Flow flow(const Flow& input) const override;
  std::unique_ptr<StreamState> open(std::uint64_t) const override;
  std::unique_ptr<IndexSequence> over_index(std::unique_ptr<IndexSequence> input) const override;
  std::int64_t bytes_of_place() const override { return ElementStore::bytes_of_place(); }

 private:
  void check_can_permute(std::int64_t elements) const;

  ShuffleKey key_;
};

}  // namespace penstock::ops
