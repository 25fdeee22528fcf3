#include "ops/function_op.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/text.h"
#include "lib/graph/arguments.h"

namespace penstock::ops {
namespace {

// A copy of the function as it was given, for one pass.
class State final : public ElementwiseState {
 public:
  explicit State(std::unique_ptr<detail::Function> function) : function_(std::move(function)) {}
  void run(std::span<Slot> slots, Context& context) override { function_->run(slots, context); }

 private:
  std::unique_ptr<detail::Function> function_;
};

void check_copies(const detail::Function& function) {
  if (function.can_be_copied()) return;
  throw Error(ErrorCode::invalid_argument,
              "a function that is not callable as const must be copyable, because each pass of each run begins with a "
              "copy of its own: "
              "make its call operator const, or let it hold by a std::shared_ptr what all copies are to share");
}

void check_parallelism(const detail::Function& function, const Tunable& parallelism) {
  graph::check_tunable("parallelism", parallelism, 1);
  if (function.callable_in_parallel()) return;
  if (parallelism.high() == 1) return check_copies(function);
  throw Error(ErrorCode::invalid_argument,
              "parallelism must be 1 for a function that is not callable as const, but is " +
                  graph::to_string(parallelism) + ": calls that run at once would change its state together");
}

// Names stand in lines of text that are compared, and in tables.
void check_name(const std::string& name) {
  constexpr std::size_t longest = 64;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(name, is_control))
    throw Error(ErrorCode::invalid_argument, "name must not hold line breaks or other control characters");
  if (!is_utf8(name))
    throw Error(ErrorCode::invalid_argument, "name must be UTF-8 text, for reports in JSON have it, too");
  if (name.size() <= longest) return;
  throw Error(ErrorCode::invalid_argument, "name must have at most 64 bytes, but has " + std::to_string(name.size()));
}

}  // namespace

FunctionOp::FunctionOp(detail::FunctionRef function, const MapOptions& options)
    : function_(std::move(function)),
      parallelism_(options.parallelism),
      order_(options.order),
      blocks_(options.blocks),
      bytes_hint_(options.bytes_hint),
      label_(options.name) {
  check_parallelism(*function_, parallelism_);
  check_name(label_);
}

std::unique_ptr<ElementwiseState> FunctionOp::open() const { return std::make_unique<State>(function_->copy()); }
std::string FunctionOp::parameters() const { return label_.empty() ? "" : "name=" + label_; }

bool FunctionOp::is_free_to_share_calls() const {
  const bool computes = blocks_ == std::optional(false);
  return computes && order_ == Order::kept && parallelism_ == AUTOTUNE && !has_state() && !bytes_hint_;
}

std::optional<std::size_t> FunctionOp::bytes_hint(const Element& input) const {
  return bytes_hint_ ? std::optional(bytes_hint_(input)) : std::nullopt;
}

}  // namespace penstock::ops
