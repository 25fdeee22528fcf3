#include "lib/exec/merge_asks.h"

#include <string>
#include <utility>

#include <penstock/error.h>

namespace penstock::exec {
namespace {

// After so many ends that it is told, and more than there are inputs, an op that still wants one goes in circles.
constexpr std::size_t kMostEnds = 100;

}  // namespace

Want wanted_by(const MergeState& state, std::size_t inputs) {
  const Want wanted = state.want();
  if (wanted.kind == Want::Kind::one && wanted.input >= inputs)
    throw Error(ErrorCode::invalid_argument,
                "the op wants input " + std::to_string(wanted.input) + ", but has only " + std::to_string(inputs));
  return wanted;
}

void fail_empty_gift() {
  throw Error(ErrorCode::internal,
              "the op said that it had something to give by itself, but gave nothing: call emit() or forward() in "
              "give(), or let want() say something else than own()");
}

bool InputRuns::is_one_due() {
  if (asks_ == nullptr) return false;
  const std::uint32_t before = std::exchange(runs_, asks_->runs_of_inputs());
  return runs_ > before;
}

bool EndsTold::goes_in_circles(std::size_t inputs) const noexcept { return in_a_row_ > kMostEnds + inputs; }

void EndsTold::tell(MergeState& state, std::size_t input, std::size_t inputs, Emitter& out) {
  ++in_a_row_;
  if (goes_in_circles(inputs))
    throw Error(ErrorCode::internal, "the op goes on to want input " + std::to_string(input) +
                                         ", though it was told that this one has ended: let ended() change what "
                                         "want() says");
  state.ended(input, out);
}

}  // namespace penstock::exec
