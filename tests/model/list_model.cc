#include "tests/model/list_model.h"

#include <utility>

#include "tests/model/stages.h"

namespace model {

struct Pipeline::State {
  std::vector<Op> ops;
  std::vector<Tape> tapes;
  Clock clock;
  std::unique_ptr<Stage> last;

  Input build() {
    Input input;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Tape* tape = ops[i].arbitrary ? nullptr : &tapes[i];
      input = stage_for({ops[i], static_cast<int>(i), tape, std::move(input), clock});
    }
    return input;
  }
};

Pipeline::Pipeline(std::vector<Op> ops, std::vector<Tape> tapes, std::int64_t work_limit)
    : state_(std::make_unique<State>()) {
  bool arbitrary = false;
  tapes.resize(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind == Kind::shuffle) ops[i].arbitrary = arbitrary || tapes[i].empty();
    arbitrary = arbitrary || ops[i].arbitrary;
  }
  *state_ = {std::move(ops), std::move(tapes), {.work_left = work_limit}, nullptr};
}

Pipeline::~Pipeline() = default;

void Pipeline::begin_epoch(std::uint32_t epoch) {
  state_->clock.epoch = epoch;
  state_->clock.rounds.clear();
  state_->clock.dropped = 0;
  state_->last = state_->build();
  state_->last->begin_pass();
}

std::optional<Item> Pipeline::next() { return state_->last->next(); }

std::int64_t Pipeline::dropped() const { return state_->clock.dropped; }

}  // namespace model
