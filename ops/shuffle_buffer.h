// What shuffles share, whatever their order: the op but for its draws, and what it does with elements and positions.
//
// A Buffer holds values and draws from them: start(rng), clear(), empty(), exchange(value), which gives what leaves for
// it, draw(), bytes(). A Key tells the generator of a pass: rng(epoch, pass).
#pragma once

#include <penstock/op.h>
#include <penstock/options.h>

#include <memory>
#include <optional>
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
    is_first_ = true;
  }
  void element(Slot&& slot, Emitter& out) override {
    if (is_first_) buffer_.start(key_.rng(slot.stamp.epoch, slot.stamp.pass));
    is_first_ = false;
    if (auto drawn = buffer_.exchange(std::move(slot))) emit(std::move(*drawn), out);
  }
  bool flush(Emitter& out) override {
    if (!buffer_.empty()) emit(buffer_.draw(), out);
    return !buffer_.empty();
  }
  void pass_end(Emitter&) override { buffer_.clear(); }  // something is left where nobody wants the pass
  std::int64_t held_bytes() const override { return buffer_.bytes(); }

 private:
  static void emit(Slot&& slot, Emitter& out) { out.emit(std::move(slot.value), slot.stamp); }

  Buffer buffer_;
  Key key_;
  bool is_first_ = true;
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
