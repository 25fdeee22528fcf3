// What shuffles share, whatever their order: the op but for its draws, and what it does with elements and positions.
//
// A Buffer holds values and draws from them: start(rng), clear(), empty(), exchange(value), which gives what leaves for
// it, draw(), bytes(). Of elements it also has what a save point needs: size(), input(i), drawn(), and put_back(value),
// which draws nothing. A Key tells the generator of a pass: rng(epoch, pass).
#pragma once

#include <penstock/op.h>
#include <penstock/options.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lib/graph/traits.h"
#include "ops/seed.h"

namespace penstock::ops {

class BufferedShuffleOp : public StreamOp, public graph::ShufflesOrder {
 public:
  std::string parameters() const override { return parameters_with(seeds_text()); }
  std::string parameters_but_seed() const override { return parameters_with(""); }
  // Error(invalid_argument) where the buffer would never be full.
  Flow flow(const Flow& input) const override;
  bool form_is_known() const override { return true; }
  std::int64_t elements_held() const override { return capacity_; }
  bool is_seeded() const override { return seed_.is_given; }

 protected:
  // Error(invalid_argument) unless buffer_size >= 1 or UNKNOWN_CARDINALITY.
  BufferedShuffleOp(std::int64_t buffer_size, const ShuffleOptions& options);

  std::int64_t capacity() const noexcept { return capacity_; }  // the largest number for "all"
  const Seed& seed() const noexcept { return seed_; }

 private:
  std::string seeds_text() const;
  std::string parameters_with(const std::string& seeds) const;

  std::int64_t capacity_;
  Seed seed_;
  ShuffleOptions options_;
};

template <class Buffer, class Key> class ShuffleState final : public StreamState {
 public:
  ShuffleState(std::int64_t capacity, Key key) : buffer_(capacity), key_(std::move(key)) {}

  void begin_pass(Emitter&) override {
    buffer_.clear();
    failed_.clear();
    has_begun_ = false;
  }
  void element(Slot&& slot, Emitter& out) override {
    if (!has_begun_) start(slot.stamp.epoch, slot.stamp.pass);
    if (auto drawn = buffer_.exchange({std::move(slot), out.input_number()})) emit(std::move(*drawn), out);
  }
  bool flush(Emitter& out) override {
    if (!buffer_.empty()) emit(buffer_.draw(), out);
    return !buffer_.empty();
  }
  void pass_end(Emitter&) override { buffer_.clear(); }  // something is left where nobody wants the pass
  std::int64_t held_bytes() const override { return buffer_.bytes(); }

  bool save(StateWriter& out) const override {
    out.number(has_begun_ ? 1 : 0);
    if (!has_begun_) return true;
    out.number(epoch_);
    out.number(pass_);
    out.number(static_cast<std::int64_t>(buffer_.drawn()));
    for (std::size_t i = 0; i < buffer_.size(); ++i) out.held(buffer_.input(i));
    return true;
  }
  void restore(StateReader& in) override {
    if (in.number(0, 1) == 0) return;
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    const auto epoch = static_cast<std::uint32_t>(in.number(0, kMost));
    start(epoch, static_cast<std::uint32_t>(in.number(0, kMost)));
    buffer_.discard(static_cast<std::uint64_t>(in.number()));
    while (in.has_held()) {
      auto [slot, input] = in.take_held_or_error();
      if (!slot.is_element()) failed_.insert(input);
      buffer_.put_back({std::move(slot), input});
    }
  }

 private:
  // By the first element of a pass.
  void start(std::uint32_t epoch, std::uint32_t pass) {
    buffer_.start(key_.rng(epoch, pass));
    epoch_ = epoch;
    pass_ = pass;
    has_begun_ = true;
  }
  template <class Drawn> void emit(Drawn&& drawn, Emitter& out) {
    if (!failed_.empty() && failed_.erase(drawn.input) > 0) {
      drawn.slot.set_kind(Slot::Kind::error);
      return out.forward(std::move(drawn.slot));
    }
    out.emit(std::move(drawn.slot.value), drawn.slot.stamp);
  }

  Buffer buffer_;
  Key key_;
  bool has_begun_ = false;
  std::uint32_t epoch_ = 0, pass_ = 0;  // of what has_begun_
  // Of what the buffer holds, inputs that were elements before the run was resumed: each goes on in the place that it
  // had.
  std::set<std::int64_t> failed_;
};

// To skip is to draw again what was drawn: the base class's skip().
template <class Buffer, class Key> class ShuffleSequence final : public IndexSequence {
 public:
  ShuffleSequence(std::unique_ptr<IndexSequence> input, std::int64_t capacity, Key key)
      : input_(std::move(input)), buffer_(capacity), key_(std::move(key)) {}
  void begin_pass(std::uint32_t epoch, std::uint32_t pass) override {
    input_->begin_pass(epoch, pass);
    buffer_.clear();
    buffer_.start(key_.rng(epoch, pass));
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
  Buffer buffer_;
  Key key_;
};

}  // namespace penstock::ops
