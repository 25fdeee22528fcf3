#include "ops/sample_from.h"

#include <penstock/ops.h>
#include <penstock/random.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lib/base/text.h"
#include "ops/merging.h"

namespace penstock::ops {
namespace {

// Keeps the draws apart from those of Context::rng() and of shuffles, which a user may have given the same seed.
constexpr std::uint64_t stream_of_samples = 0x73616D706C65;  // "sample"

// Which input comes next.
class Draws {
 public:
  static constexpr bool kMayThrow = false;

  Draws(const std::vector<double>& weights, std::uint64_t seed, bool stop_on_empty, bool rerandomize)
      : all_weights_(weights), seed_(seed), stop_on_empty_(stop_on_empty), rerandomize_(rerandomize) {}

  void begin_pass(std::uint32_t epoch, std::uint32_t pass) {
    weights_ = all_weights_;
    numbers_ = make_rng(seed_, rerandomize_ ? epoch : 0, rerandomize_ ? pass : 0, 0, stream_of_samples);
    add_up();
    go_on();
  }
  std::optional<std::size_t> drawn() const noexcept { return drawn_; }  // nullopt: nothing is left
  bool may_come(std::size_t input) const noexcept { return weights_.empty() || weights_[input] > 0; }
  void go_on() {
    number_ = numbers_.uniform();
    draw();
  }
  // The same draw again, among those that are left.
  void ended(std::size_t input) {
    weights_[input] = 0;
    if (stop_on_empty_) weights_.assign(weights_.size(), 0);
    add_up();
    draw();
  }
  // Where the present draw begins, and which inputs have ended.
  void save(StateWriter& out) const {
    out.number(static_cast<std::int64_t>(numbers_.position()) - kWordsOfADraw);
    save_inputs(out, weights_.size(), [&](std::size_t input) { return weights_[input] != all_weights_[input]; });
  }
  void restore(StateReader& in) {
    numbers_.discard(static_cast<std::uint64_t>(in.count()) - numbers_.position());  // back as well: modulo 2^64
    restore_inputs(in, weights_.size(), [&](std::size_t input) { weights_[input] = 0; });
    add_up();
    go_on();
  }

 private:
  static constexpr std::int64_t kWordsOfADraw = 2;

  void add_up() {
    sums_.resize(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), sums_.begin());
    last_ = 0;
    for (std::size_t input = 0; input < weights_.size(); ++input) {
      if (weights_[input] > 0) last_ = input;
    }
  }
  void draw() {
    drawn_.reset();
    if (sums_.back() <= 0) return;
    const double place = number_ * sums_.back();
    drawn_ = std::min(count_up_to(std::span<const double>(sums_), place), last_);  // where it was rounded up
  }

  const std::vector<double>& all_weights_;  // of the op, which lives longer
  const std::uint64_t seed_;
  const bool stop_on_empty_, rerandomize_;
  std::vector<double> weights_;  // 0: nothing is left of it
  std::vector<double> sums_;     // of each and those before it
  std::size_t last_ = 0;         // of which something is left
  CounterRng numbers_;           // of the pass, one for each draw
  double number_ = 0;            // of the present draw
  std::optional<std::size_t> drawn_;
};

class State final : public MergeState {
 public:
  explicit State(Draws draws) : draws_(std::move(draws)) {}

  void begin_pass(const Stamp& pass) override { draws_.begin_pass(pass.epoch, pass.pass); }
  Want want() const override { return draws_.drawn() ? Want::one(*draws_.drawn()) : Want::nothing(); }
  void take(std::size_t, Slot&& slot, Emitter& out) override {
    out.forward(std::move(slot));
    draws_.go_on();
  }
  void ended(std::size_t input, Emitter&) override { draws_.ended(input); }
  bool soon(std::size_t input) const noexcept override { return draws_.may_come(input); }
  bool save(StateWriter& out) const override {
    draws_.save(out);
    return true;
  }
  void restore(StateReader& in) override { draws_.restore(in); }

 private:
  Draws draws_;
};

std::vector<double> checked(std::vector<double> weights, std::size_t inputs) {
  if (weights.empty()) return std::vector<double>(inputs, 1.0);
  if (weights.size() != inputs)
    throw Error(ErrorCode::invalid_argument, "there are " + std::to_string(weights.size()) + " weights, but " +
                                                 std::to_string(inputs) + " datasets: give one for each");
  bool any = false;
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight < 0)
      throw Error(ErrorCode::invalid_argument,
                  "weights must be finite and at least 0, but one is " + std::to_string(weight));
    any = any || weight > 0;
  }
  if (!std::isfinite(std::accumulate(weights.begin(), weights.end(), 0.0)))
    throw Error(ErrorCode::invalid_argument,
                "the sum of the weights is beyond what a double can hold: make them smaller");
  if (!any) throw Error(ErrorCode::invalid_argument, "all weights are 0: give at least one dataset a weight above 0");
  return weights;
}

}  // namespace

SampleFromOp::SampleFromOp(std::size_t inputs, const SampleOptions& options)
    : weights_(checked(options.weights, inputs)),
      seed_(options.seed),
      stop_on_empty_(options.stop_on_empty),
      rerandomize_(options.rerandomize_each_epoch) {}

std::string SampleFromOp::weights_text() const {
  std::string text = "weights=";
  for (const double weight : weights_) text += (text.back() == '=' ? "" : " ") + shortest_text(weight);
  return text;
}

std::string SampleFromOp::options_text() const {
  return std::string(stop_on_empty_ ? ", stop_on_empty" : "") + (rerandomize_ ? ", rerandomize_each_epoch" : "");
}

Flow SampleFromOp::flow_of(std::span<const Flow> inputs) const {
  bool never_ends = false;
  for (std::size_t i = 0; i < inputs.size() && !stop_on_empty_; ++i)
    never_ends = never_ends || (weights_[i] > 0 && inputs[i].cardinality == INFINITE_CARDINALITY);
  if (never_ends) return {.cardinality = INFINITE_CARDINALITY, .leading_dimension = leading_dimension_of_all(inputs)};
  return {.cardinality = cardinality_of_mixed(inputs), .leading_dimension = leading_dimension_of_all(inputs)};
}

std::unique_ptr<MergeState> SampleFromOp::open(std::size_t) const {
  return std::make_unique<State>(Draws(weights_, seed_.value, stop_on_empty_, rerandomize_));
}

std::optional<graph::Positions> SampleFromOp::over_positions(std::vector<graph::Positions> inputs) const {
  const auto source = JoinedSource::of(inputs);
  if (!source || stop_on_empty_) return std::nullopt;
  std::int64_t size = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (weights_[i] > 0) size += inputs[i].order()->size();
  }
  // The inputs' sources are kept by the graph, which keeps this op as well.
  auto order = [this, source, size, inputs = std::move(inputs)] {
    return std::make_unique<MixedSequence<Draws>>(Draws(weights_, seed_.value, false, rerandomize_),
                                                  JoinedOrders(source, inputs), size);
  };
  return graph::Positions{.source = source, .order = std::move(order), .is_fixed = false};
}

OpRef sample_from(std::size_t inputs, const SampleOptions& options) {
  return std::make_shared<SampleFromOp>(inputs, options);
}

}  // namespace penstock::ops
