#include "ops/window.h"

#include <penstock/ops.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 61;  // positions: nothing comes so far, and sums do not overflow

// Which positions windows have.
struct Grid {
  std::int64_t size, shift, stride;

  std::int64_t reach() const { return (size - 1) * stride + 1; }
  // Whether a window that begins at begin, begin + shift, ... has this position. After `stride` windows it is the same
  // again.
  bool is_in_any(std::int64_t position, std::int64_t begin) const {
    if (position < begin) return false;
    std::int64_t distance = (position - begin) % shift;  // from the last one that begins before it
    for (std::int64_t window = 0; window < stride && distance <= position - begin && distance < reach(); ++window) {
      if (distance % stride == 0) return true;
      distance += shift;
    }
    return false;
  }
};

class State final : public StreamState {
 public:
  State(const Grid& grid, const detail::GathererFactory& factory, bool drop_remainder)
      : grid_(grid), factory_(factory), drop_remainder_(drop_remainder) {}

  void begin_pass(Emitter&) override { clear(); }
  void element(Slot&& slot, Emitter& out) override {
    const std::int64_t position = position_++;
    first_input_ = out.input_number() - position;
    if (grid_.is_in_any(position, begin_)) keep(position, std::move(slot));
    if (is_complete()) give(out);
  }
  void error(Slot&& slot, Emitter& out) override {
    if (grid_.is_in_any(position_++, begin_)) out.forward(std::move(slot));
    if (is_complete()) give(out);
  }
  bool flush(Emitter& out) override {
    if (!has_more()) return false;
    give(out);
    return has_more();
  }
  void pass_end(Emitter&) override { clear(); }
  std::int64_t held_bytes() const override { return held_bytes_; }
  bool save(StateWriter& out) const override {
    out.number(position_);
    out.number(begin_);
    for (const Kept& kept : kept_) out.held(kept.position + first_input_);
    return true;
  }
  void restore(StateReader& in) override {
    position_ = in.number(0, kFarthest);
    begin_ = in.number(std::max<std::int64_t>(position_ - grid_.reach() + 1, 0), position_ + grid_.shift);
    first_input_ = in.next_input() - position_;
    while (in.has_held()) {
      auto [slot, input] = in.take_held();
      keep(input - first_input_, std::move(slot));
    }
  }

 private:
  struct Kept {
    std::int64_t position;
    Slot slot;

    std::int64_t bytes() const { return slot.value_bytes() + static_cast<std::int64_t>(sizeof(Kept)); }
  };
  static_assert(sizeof(Kept) == sizeof(Slot) + sizeof(std::int64_t));  // as WindowOp::bytes_of_place() has it

  bool is_complete() const { return position_ >= begin_ + grid_.reach(); }
  bool has_more() const { return drop_remainder_ ? is_complete() : begin_ < position_; }
  void keep(std::int64_t position, Slot&& slot) {
    kept_.push_back({position, std::move(slot)});
    held_bytes_ += kept_.back().bytes();
  }

  // The window that begins first, as far as it has come. If that fails, it is this window alone that is lost.
  void give(Emitter& out) {
    Stamp last;
    const auto window = factory_.open();
    try {
      last = gather(*window);
    } catch (...) {
      go_on();
      throw;
    }
    go_on();
    if (window->size() > (drop_remainder_ ? grid_.size - 1 : 0)) out.emit(window->finish(), last);
  }
  Stamp gather(detail::Gatherer& window) {
    Stamp last;
    for (Kept& kept : kept_) {
      const std::int64_t offset = kept.position - begin_;
      if (offset % grid_.stride != 0 || offset >= grid_.reach()) continue;
      last = kept.slot.stamp;
      if (grid_.is_in_any(offset, grid_.shift)) {
        window.add_copy(kept.slot.value);
      } else {
        window.add(std::move(kept.slot.value));
      }
    }
    return last;
  }
  // What no later window has is gone.
  void go_on() {
    begin_ += grid_.shift;
    std::erase_if(kept_, [this](const Kept& kept) {
      const bool is_wanted = grid_.is_in_any(kept.position, begin_);
      held_bytes_ -= is_wanted ? 0 : kept.bytes();
      return !is_wanted;
    });
  }
  void clear() {
    kept_.clear();
    position_ = begin_ = held_bytes_ = 0;
  }

  const Grid grid_;
  const detail::GathererFactory& factory_;  // of the op, which lives longer
  const bool drop_remainder_;
  std::deque<Kept> kept_;         // what windows from begin_ on want
  std::int64_t position_ = 0;     // of what comes next
  std::int64_t begin_ = 0;        // of the window that begins first
  std::int64_t first_input_ = 0;  // the number of the input at position 0: less than 0 where the run was resumed
  std::int64_t held_bytes_ = 0;
};

void check(const char* name, std::int64_t value) {
  if (value < 1) graph::reject(name, "at least 1", value);
}

}  // namespace

WindowOp::WindowOp(std::int64_t size, detail::GathererFactoryRef factory, const WindowOptions& options)
    : size_(size),
      shift_(options.shift.value_or(size)),
      stride_(options.stride),
      drop_remainder_(options.drop_remainder),
      factory_(std::move(factory)) {
  check("size", size_);
  check("shift", shift_);
  check("stride", stride_);
  if (size_ > 1 && stride_ > kFarthest / (size_ - 1))
    graph::reject("size", "so small that a window reaches over at most 2^61 positions", size_);
  // An element of a window is in a later one, too, where shift and stride have a common multiple within its reach.
  const bool overlap = shift_ / std::gcd(shift_, stride_) < size_;
  if (overlap && !factory_->open()->can_copy())
    throw Error(ErrorCode::invalid_argument,
                "windows overlap, but elements of this type cannot be copied: hold them by std::shared_ptr, or make "
                "shift at least " +
                    std::to_string(reach()));
}

std::string WindowOp::parameters() const {
  return "size=" + std::to_string(size_) + ", shift=" + std::to_string(shift_) + ", stride=" + std::to_string(stride_) +
         (drop_remainder_ ? ", drop_remainder" : "");
}

Flow WindowOp::flow(const Flow& input) const {
  Flow flow{input.cardinality, drop_remainder_ ? size_ : UNKNOWN_CARDINALITY};
  if (input.cardinality < 0) return flow;
  const std::int64_t beginnings = drop_remainder_ ? input.cardinality - reach() + 1 : input.cardinality;
  flow.cardinality = beginnings > 0 ? (beginnings - 1) / shift_ + 1 : 0;
  return flow;
}

// Of the positions from the first one of a window to its last one, those that it or a later one has. Windows that begin
// at the same place within a stride have the same ones.
std::int64_t WindowOp::elements_held() const {
  constexpr std::int64_t kMostCounted = 1'000'000;  // of strides: beyond that, all of them
  const std::int64_t beginnings = stride_ / std::gcd(shift_, stride_);
  if (beginnings > kMostCounted) return reach();
  std::int64_t held = 0;
  for (std::int64_t window = 0; window < beginnings && window <= (reach() - 1) / shift_; ++window)
    held += (reach() - 1 - window * shift_) / stride_ + 1;
  return held;
}

std::unique_ptr<StreamState> WindowOp::open(std::uint64_t) const {
  return std::make_unique<State>(Grid{size_, std::min(shift_, kFarthest), stride_}, *factory_, drop_remainder_);
}

OpRef window(std::int64_t size, detail::GathererFactoryRef factory, const WindowOptions& options) {
  return std::make_shared<WindowOp>(size, std::move(factory), options);
}

}  // namespace penstock::ops
