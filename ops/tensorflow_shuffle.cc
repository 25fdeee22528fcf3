#include "ops/tensorflow_shuffle.h"

#include <penstock/ops.h>

#include <deque>
#include <utility>

namespace penstock::ops {
namespace {

using Seeds = TensorFlowShuffleOp::Seeds;

// TensorFlow's, of Python's seeds (tensorflow/python/framework/random_seed.py): modulo 2^31 - 1, as Python takes it of
// negative ones; a pair of zeros would mean "any".
constexpr std::int64_t kSeeds = 0x7FFFFFFF;
constexpr std::uint64_t kWithoutGlobalSeed = 87654321;

std::uint64_t reduced(std::uint64_t seed) {
  const std::int64_t rest = static_cast<std::int64_t>(seed) % kSeeds;
  return static_cast<std::uint64_t>(rest < 0 ? rest + kSeeds : rest);
}

Seeds seeds_of(std::uint64_t seed, const std::optional<std::uint64_t>& global_seed, bool reshuffle) {
  const std::uint64_t first = global_seed ? reduced(*global_seed) : kWithoutGlobalSeed, second = reduced(seed);
  return {.seed = first, .seed2 = first == 0 && second == 0 ? kSeeds : second, .reshuffle = reshuffle};
}

CounterRng generator(std::uint64_t seed, std::uint64_t seed2) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  return {{low(seed), low(seed >> 32)}, {0, 0, low(seed2), low(seed2 >> 32)}};
}

struct Numbered {
  Slot slot;
  std::int64_t input = 0;  // which of its op's, in the pass
};

// As the memory budget counts them.
std::int64_t bytes_of(const Numbered& held) {
  return held.slot.bytes() + static_cast<std::int64_t>(sizeof(Numbered) - sizeof(Slot));
}
std::int64_t bytes_of(std::int64_t position) { return sizeof(position); }

// At most `capacity` values, the oldest first.
template <class Value> class Buffer {
 public:
  explicit Buffer(std::int64_t capacity) : capacity_(static_cast<std::size_t>(capacity)) {}

  void start(const CounterRng& rng) { rng_ = rng; }
  void clear() noexcept {
    held_.clear();
    bytes_ = 0;
  }
  bool empty() const noexcept { return held_.empty(); }
  std::int64_t bytes() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return held_.size(); }
  std::int64_t input(std::size_t i) const noexcept { return held_[i].input; }
  std::uint64_t drawn() const noexcept { return rng_.position(); }
  void discard(std::uint64_t drawn) noexcept { rng_.discard(drawn); }
  void put_back(Value value) {
    held_.push_back(std::move(value));
    bytes_ += bytes_of(held_.back());
  }

  // What leaves for it; nothing until the buffer is full.
  std::optional<Value> exchange(Value value) {
    put_back(std::move(value));
    if (held_.size() < capacity_) return std::nullopt;
    return draw();
  }
  // Needs !empty().
  Value draw() {
    std::swap(held_[rng_.next_u32() % held_.size()], held_.front());
    Value drawn = std::move(held_.front());
    held_.pop_front();
    bytes_ -= bytes_of(drawn);
    return drawn;
  }

 private:
  std::size_t capacity_;
  CounterRng rng_;
  std::deque<Value> held_;
  std::int64_t bytes_ = 0;  // of those held
};

}  // namespace

CounterRng Seeds::rng(std::uint32_t epoch, std::uint32_t pass) const {
  if (!reshuffle) return generator(seed, seed2);
  // Of an epoch without an end nobody can count the openings before the next one.
  const std::uint64_t whole = repeats.in_an_epoch().value_or(std::uint64_t{1} << 31);
  const std::uint64_t before = loop_begins ? *loop_begins : epoch * whole;
  CounterRng pairs = generator(seed, seed2);
  pairs.discard(2 * (before + repeats.openings_before(pass)));
  const std::uint32_t first = pairs.next_u32();
  return generator(first, pairs.next_u32());
}

TensorFlowShuffleOp::TensorFlowShuffleOp(std::int64_t buffer_size, const ShuffleOptions& options)
    : BufferedShuffleOp(buffer_size, options),
      seeds_(seeds_of(seed().value, options.global_seed, options.reshuffle_each_epoch)) {
  if (options.global_seed && !is_seeded())
    throw Error(ErrorCode::invalid_argument,
                "global_seed is given without seed: TensorFlow would draw one that depends on how many ops were made "
                "before. Give both");
}

std::unique_ptr<StreamState> TensorFlowShuffleOp::open(std::uint64_t) const {
  return std::make_unique<ShuffleState<Buffer<Numbered>, Seeds>>(capacity(), seeds_);
}

std::unique_ptr<IndexSequence> TensorFlowShuffleOp::over_index(std::unique_ptr<IndexSequence> input) const {
  return std::make_unique<ShuffleSequence<Buffer<std::int64_t>, Seeds>>(std::move(input), capacity(), seeds_);
}

OpRef TensorFlowShuffleOp::among(const graph::RepeatsAround& repeats) const {
  auto there = std::make_shared<TensorFlowShuffleOp>(*this);
  there->seeds_.repeats = repeats;
  return there;
}

// The first opening is at once, though nothing may be read.
OpRef TensorFlowShuffleOp::in_a_loop() const {
  auto there = std::make_shared<TensorFlowShuffleOp>(*this);
  there->seeds_.loop_begins = opened_->fetch_add(1);
  return there;
}

OpRef tensorflow_shuffle(std::int64_t buffer_size, const ShuffleOptions& options) {
  return std::make_shared<TensorFlowShuffleOp>(buffer_size, options);
}

}  // namespace penstock::ops
