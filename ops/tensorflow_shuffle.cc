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

// At most `capacity` values, the oldest first.
template <class Value> class Buffer {
 public:
  explicit Buffer(std::int64_t capacity) : capacity_(static_cast<std::size_t>(capacity)) {}

  void start(const CounterRng& rng) { rng_ = rng; }
  void clear() noexcept { held_.clear(); }
  bool empty() const noexcept { return held_.empty(); }

  // What leaves for it; nothing until the buffer is full.
  std::optional<Value> exchange(Value value) {
    held_.push_back(std::move(value));
    if (held_.size() < capacity_) return std::nullopt;
    return draw();
  }
  // Needs !empty().
  Value draw() {
    std::swap(held_[rng_.next_u32() % held_.size()], held_.front());
    Value drawn = std::move(held_.front());
    held_.pop_front();
    return drawn;
  }

 private:
  std::size_t capacity_;
  CounterRng rng_;
  std::deque<Value> held_;
};

class State final : public StreamState {
 public:
  State(std::int64_t capacity, Seeds seeds) : buffer_(capacity), seeds_(std::move(seeds)) {}

  void begin_pass(Emitter&) override {
    clear();
    is_first_ = true;
  }
  void element(Slot&& slot, Emitter& out) override {
    if (is_first_) buffer_.start(seeds_.rng(slot.stamp.epoch, slot.stamp.pass));
    is_first_ = false;
    held_bytes_ += slot.bytes();
    if (auto drawn = buffer_.exchange(std::move(slot))) emit(std::move(*drawn), out);
  }
  bool flush(Emitter& out) override {
    if (!buffer_.empty()) emit(buffer_.draw(), out);
    return !buffer_.empty();
  }
  void pass_end(Emitter&) override { clear(); }  // something is left where nobody wants the pass
  std::int64_t held_bytes() const override { return held_bytes_; }

 private:
  void emit(Slot&& slot, Emitter& out) {
    held_bytes_ -= slot.bytes();
    out.emit(std::move(slot.value), slot.stamp);
  }
  void clear() {
    buffer_.clear();
    held_bytes_ = 0;
  }

  Buffer<Slot> buffer_;
  Seeds seeds_;
  std::int64_t held_bytes_ = 0;
  bool is_first_ = true;
};

// To skip is to draw again what was drawn: the base class's skip().
class Sequence final : public IndexSequence {
 public:
  Sequence(std::unique_ptr<IndexSequence> input, std::int64_t capacity, Seeds seeds)
      : input_(std::move(input)), buffer_(capacity), seeds_(std::move(seeds)) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    buffer_.clear();
    buffer_.start(seeds_.rng(epoch, pass));
  }
  std::optional<std::int64_t> next() override {
    while (const auto position = input_->next())
      if (const auto drawn = buffer_.exchange(*position)) return drawn;
    if (buffer_.empty()) return std::nullopt;
    return buffer_.draw();
  }
  std::int64_t size() const override { return input_->size(); }

 private:
  std::unique_ptr<IndexSequence> input_;
  Buffer<std::int64_t> buffer_;
  Seeds seeds_;
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
    : buffer_(buffer_size),
      seed_(options.seed),
      global_seed_(options.global_seed),
      seeds_(seeds_of(seed_.value, global_seed_, options.reshuffle_each_epoch)) {
  if (global_seed_ && !seed_.is_given)
    throw Error(ErrorCode::invalid_argument,
                "global_seed is given without seed: TensorFlow would draw one that depends on how many ops were made "
                "before. Give both");
}

std::string TensorFlowShuffleOp::parameters() const {
  const std::string global = global_seed_ ? ", global_seed=" + std::to_string(*global_seed_) : "";
  return parameters_with(", " + seed_.text() + global);
}

std::string TensorFlowShuffleOp::parameters_but_seed() const { return parameters_with(""); }

std::string TensorFlowShuffleOp::parameters_with(const std::string& seeds) const {
  return buffer_.text() + ", order=tensorflow" + seeds + (seeds_.reshuffle ? "" : ", reshuffle_each_epoch=false");
}

Flow TensorFlowShuffleOp::flow(const Flow& input) const {
  buffer_.check_input(input);
  return input;
}

std::unique_ptr<StreamState> TensorFlowShuffleOp::open(std::uint64_t) const {
  return std::make_unique<State>(buffer_.capacity(), seeds_);
}

std::unique_ptr<IndexSequence> TensorFlowShuffleOp::over_index(std::unique_ptr<IndexSequence> input) const {
  return std::make_unique<Sequence>(std::move(input), buffer_.capacity(), seeds_);
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
