// What the suite puts before an op: a source of tokens that can fail, and a step that can be uneven
// or hold elements back.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <string>

#include "tests/conformance/gate.h"
#include "tests/conformance/token.h"
#include "tests/support/random_graphs/courier.h"
#include "tests/support/random_graphs/own_ops.h"

namespace conformance {

// How one dataset of the suite is fed. All it points to outlives the dataset.
struct Feed {
  std::int64_t count = 0;
  std::int64_t first = 0;     // the source's first number
  model::Modulus fails = {};  // the source fails on these numbers
  std::uint64_t jitter = 0;   // a seed: calls are uneven; 0: they are not
  Gate* gate = nullptr;       // holds elements back; null: it does not
  CensusRef census;
  random_graphs::Courier* courier = nullptr;  // for answers that come later
  std::string folder;                         // for file lists

  // Some calls sleep, some let others go first; which ones, the seed and the number say.
  void be_uneven(std::int64_t number) const {
    if (jitter == 0) return;
    const auto key = static_cast<std::int64_t>(jitter * 1'000) + number;
    random_graphs::jitter({.jitter_us = 200}, key);
  }
};

inline void fail_if(const model::Modulus& fails, std::int64_t number) {
  if (fails.holds(model::number(number))) random_graphs::throw_fails_on(model::number(number));
}

// first, first + 1, ..., count of them, as tokens. Its positions may be chosen by the ops behind it.
template <class T> class TokenSource final : public ps::SourceOp, public ps::IndexedSource {
 public:
  explicit TokenSource(Feed feed) : feed_(std::move(feed)) {}
  std::string name() const override { return "source"; }
  std::string parameters() const override { return std::to_string(feed_.count); }
  ps::Flow flow(const ps::Flow&) const override { return {.cardinality = feed_.count}; }
  const ps::IndexedSource* indexed() const override { return this; }
  std::unique_ptr<ps::SourceReader> open() const override { return nullptr; }

  std::int64_t size() const override { return feed_.count; }
  std::string origin(std::int64_t i) const override { return "item " + std::to_string(i); }
  ps::Element at(std::int64_t i) const override {
    feed_.be_uneven(feed_.first + i);
    fail_if(feed_.fails, feed_.first + i);
    return ps::Element(T(feed_.first + i, feed_.census));
  }

 private:
  const Feed feed_;
};

// Passes everything on: at once, unevenly, or when the gate opens. Behind it no op sees positions.
class Step final : public ps::ElementwiseOp {
 public:
  explicit Step(Feed feed) : feed_(std::move(feed)) {}
  std::string name() const override { return "step"; }
  ps::Flow flow(const ps::Flow& input) const override { return input; }
  bool may_fan_out() const override { return false; }
  ps::Tunable parallelism() const override { return ps::Tunable(4); }
  ps::Form form() const override { return feed_.gate != nullptr ? ps::Form::completes_later : ps::Form::computes; }

  void run(std::span<ps::Slot> slots, ps::Context& context) const override {
    for (const ps::Slot& slot : slots) {
      context.enter(slot);
      feed_.be_uneven(slot.stamp.ordinal + 7'919 * slot.stamp.pass);
    }
  }
  void start(ps::Element element, ps::Context& context, ps::Completion completion) const override {
    const ps::Stamp& stamp = context.stamp();
    feed_.gate->arrive(stamp.pass * feed_.count + stamp.ordinal, std::move(element), std::move(completion));
  }

 private:
  const Feed feed_;
};

}  // namespace conformance
