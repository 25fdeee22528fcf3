#include "lib/exec/elementwise_passes.h"

#include "lib/exec/opened.h"

namespace penstock::exec {

void ElementwisePasses::run(std::span<Slot> slots, Context& context) {
  if (!op_.has_state()) return op_.run(slots, context);
  if (state_ == nullptr) open();
  state_->run(slots, context);
}

void ElementwisePasses::open() {
  if (failed_to_open_) std::rethrow_exception(failed_to_open_);
  try {
    state_ = opened(op_.open());
  } catch (...) {
    failed_to_open_ = std::current_exception();
    throw;
  }
}

void ElementwisePasses::end_pass() noexcept {
  state_.reset();
  failed_to_open_ = nullptr;
}

}  // namespace penstock::exec
