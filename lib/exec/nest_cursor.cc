// The cursor of an op that opens datasets, inside such a dataset: everything in turn, nothing ahead.
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "lib/exec/cursors.h"
#include "lib/exec/inner_dataset.h"
#include "lib/exec/turns.h"
#include "lib/graph/traits.h"

namespace penstock::exec {
namespace {

constexpr int kMostIdleDatasets =
    16;  // datasets opened or closed without a slot: then others look whether more is wanted

class NestCursor final : public Cursor {
 public:
  NestCursor(const CursorOp& op, std::unique_ptr<Cursor> input, int depth)
      : op_(op),
        calls_(*op.node->as<ElementwiseOp>()),
        opens_(*op.node->as<graph::OpensDatasets>()),
        input_(std::move(input)),
        depth_(depth),
        turns_(opens_.cycle_length(), opens_.block_length()) {}

  void begin_pass(const PassKey& pass, CursorCall& call) override {
    places_.clear();
    calls_.end_pass();
    open_ = inputs_ = held_ = 0;
    has_input_ = true;
    turns_.go_to(0);
    input_->begin_pass(pass, call);
  }

  bool pull(Slots& out, std::size_t most, CursorCall& call) override {
    Context context = call.context_of(op_);
    const std::size_t end = out.size() + most;
    for (int idle = 0; out.size() < end && idle < kMostIdleDatasets; ++idle) {
      const std::size_t before = out.size();
      if (!has_input_ && open_ == 0) return false;
      if (!step(out, context, call)) break;
      if (out.size() > before) idle = 0;
    }
    return true;
  }
  std::int64_t held_bytes() const noexcept override { return input_->held_bytes() + held_; }

 private:
  struct Place {
    std::unique_ptr<InnerDataset> inner;
    std::optional<Slot> only;  // an error of the input, or of the function
    std::int64_t input = -1;   // its number
    std::int64_t held = 0;     // by the ops inside
    bool has_more = true;
    bool is_open() const noexcept { return inner != nullptr || only; }
  };

  // False: somebody has nothing yet.
  bool step(Slots& out, Context& context, CursorCall& call) {
    const std::size_t turn = turns_.place();
    if (turn < places_.size() && places_[turn].is_open()) return give(places_[turn], out, context, call);
    if (has_input_) return fill(context, call);
    turns_.go_to(next_taken(places_, turn, [](const Place& place) { return place.is_open(); }));
    return true;
  }

  // False: it has nothing yet.
  bool give(Place& place, Slots& out, Context& context, CursorCall& call) {
    if (!place.has_more) {
      close(place);
      return true;
    }
    const std::size_t before = out.size();
    place.has_more = !place.only && place.inner->pull(out, 1, context, call.stop_token());
    if (place.inner) held_ += place.inner->held_bytes() - std::exchange(place.held, place.inner->held_bytes());
    if (place.only) out.push_back(std::move(*place.only));
    if (out.size() == before) return !place.has_more;
    call.finish(out.back(), op_, place.input);
    turns_.give();
    return true;
  }
  void close(Place& place) {
    held_ -= place.held;
    place = Place();
    --open_;
    turns_.go_on();
  }

  // The next input takes the place at the turn. False: there is none yet.
  bool fill(Context& context, CursorCall& call) {
    Slots next;
    has_input_ = input_->pull(next, 1, call);
    if (next.empty()) return !has_input_;
    if (turns_.place() >= places_.size()) places_.resize(turns_.place() + 1);
    Place& place = places_[turns_.place()];
    Slot& slot = next.front();
    place.input = inputs_++;
    ++open_;
    if (!slot.is_element()) {
      place.only = std::move(slot);
      return true;
    }
    const Stamp stamp = slot.stamp;
    try {
      place.inner = InnerDataset::open(calls_, std::move(slot), context, depth_ + 1);
    } catch (...) {
      place.only.emplace(Element(), stamp).fail(detail::current_failure());
    }
    return true;
  }

  const CursorOp op_;
  ElementwisePasses calls_;
  const graph::OpensDatasets& opens_;
  const std::unique_ptr<Cursor> input_;
  const int depth_;
  Turns turns_;
  std::vector<Place> places_;
  std::int64_t open_ = 0;
  std::int64_t inputs_ = 0;  // of the pass
  std::int64_t held_ = 0;    // sum of all places
  bool has_input_ = true;
};

}  // namespace

std::unique_ptr<Cursor> nest_cursor(const CursorOp& op, std::unique_ptr<Cursor> input, int depth) {
  return std::make_unique<NestCursor>(op, std::move(input), depth);
}

}  // namespace penstock::exec
