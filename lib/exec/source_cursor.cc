// Cursors that begin a dataset.
#include <array>
#include <exception>
#include <utility>

#include "lib/exec/cursors.h"
#include "lib/exec/opened.h"

namespace penstock::exec {
namespace {

// A failure to begin is all that a pass gives.
class BeginningOfPass {
 public:
  template <class Begin> void begin(const PassKey& pass, Begin&& begin) noexcept {
    pass_ = pass;
    failure_ = nullptr;
    try {
      begin();
    } catch (...) {
      failure_ = detail::current_failure();
    }
  }
  // True: there is such a failure.
  bool add_failure(Slots& out, const CursorOp& op, CursorCall& call) {
    if (!failure_) return false;
    Slot& slot = out.emplace_back(Element(), pass_.stamp());
    slot.fail(std::exchange(failure_, nullptr));
    call.finish(slot, op, -1);
    return true;
  }

 private:
  PassKey pass_;
  std::exception_ptr failure_;
};

Stamp first_of(const PassKey& pass, std::uint16_t source) noexcept {
  Stamp stamp = pass.stamp();
  stamp.source = source;
  stamp.ordinal = 0;
  return stamp;
}

class PositionsCursor final : public Cursor {
 public:
  PositionsCursor(const CursorOp& op, const graph::Positions& positions, std::uint16_t source)
      : op_(op), source_(positions.source), order_(positions.order()), number_(source) {}

  void begin_pass(const PassKey& pass, CursorCall&) override {
    at_ = first_of(pass, number_);
    given_ = known_ = 0;
    beginning_.begin(pass, [&] { order_->begin_pass(pass.epoch, pass.number()); });
  }
  bool pull(Slots& out, std::size_t most, CursorCall& call) override {
    if (beginning_.add_failure(out, op_, call)) return false;
    for (; most > 0; --most) {
      if (!add_next(out)) return false;
      call.finish(out.back(), op_, at_.ordinal);
    }
    return true;
  }

 private:
  bool add_next(Slots& out) {
    try {
      if (!has_position()) return false;
      at_.ordinal = list_[given_++];
      Element element = source_->at(at_.ordinal);
      element.own();
      out.emplace_back(std::move(element), at_);
    } catch (...) {
      out.emplace_back(Element(), at_).fail(detail::current_failure());
    }
    return true;
  }
  bool has_position() {
    if (given_ == known_) {
      given_ = known_ = 0;  // and stay so if it throws
      known_ = order_->next_few(list_);
    }
    return given_ < known_;
  }

  const CursorOp op_;
  const std::shared_ptr<const IndexedSource> source_;
  const std::unique_ptr<IndexSequence> order_;
  const std::uint16_t number_;
  BeginningOfPass beginning_;
  Stamp at_;
  std::array<std::int64_t, 16> list_{};  // positions that come next, as far as they are known
  std::size_t known_ = 0, given_ = 0;
};

class ReaderCursor final : public Cursor {
 public:
  ReaderCursor(const CursorOp& op, std::uint16_t source)
      : op_(op), reader_(opened(op.node->as<SourceOp>()->open())), number_(source) {}

  void begin_pass(const PassKey& pass, CursorCall& call) override {
    at_ = first_of(pass, number_);
    beginning_.begin(pass, [&] {
      Context context = call.context_of(op_);
      context.enter(Slot(Element(), pass.stamp()));
      reader_->begin_pass(pass.epoch, pass.number());
    });
  }
  bool pull(Slots& out, std::size_t most, CursorCall& call) override {
    if (beginning_.add_failure(out, op_, call)) return false;
    Context context = call.context_of(op_);
    for (; most > 0; --most) {
      if (!add_next(out, context)) return false;
      call.finish(out.back(), op_, at_.ordinal++);
    }
    return true;
  }
  std::string origin(const Stamp& element) const override {
    return element.ordinal < 0 ? std::string() : reader_->origin(element);
  }

 private:
  bool add_next(Slots& out, Context& context) {
    try {
      context.enter(Slot(Element(), at_));
      auto element = reader_->next(context);
      if (!element) return false;
      element->own();
      out.emplace_back(std::move(*element), at_);
    } catch (...) {
      out.emplace_back(Element(), at_).fail(detail::current_failure());
    }
    return true;
  }

  const CursorOp op_;
  const std::unique_ptr<SourceReader> reader_;
  const std::uint16_t number_;
  BeginningOfPass beginning_;
  Stamp at_;
};

}  // namespace

std::unique_ptr<Cursor> positions_cursor(const CursorOp& op, const graph::Positions& positions, std::uint16_t source) {
  return std::make_unique<PositionsCursor>(op, positions, source);
}

std::unique_ptr<Cursor> reader_cursor(const CursorOp& op, std::uint16_t source) {
  return std::make_unique<ReaderCursor>(op, source);
}

}  // namespace penstock::exec
