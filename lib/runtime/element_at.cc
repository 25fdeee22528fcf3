// Dataset::at(): a serial run that is resumed right before the element, as if from a checkpoint.
#include <penstock/run.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "lib/exec/compile.h"
#include "lib/graph/made_of.h"
#include "lib/graph/node.h"

namespace penstock::detail {
namespace {

[[noreturn]] void refuse(const graph::NodeRef& last, const graph::Node& node) {
  const auto uses = graph::uses(last);
  const auto use = std::ranges::find(uses, &node, &graph::Use::node);
  throw Error(ErrorCode::failed_precondition,
              "at() cannot be told which elements " + graph::named(*use) +
                  " makes an element of: it works behind sources that can be indexed and what selects or orders "
                  "them, maps that keep the order, batch() and prefetch(). Use skip(index).take(1)");
}

// Behind so many positions. nullptr: there are not as many as the order has said.
std::shared_ptr<const Checkpoint> checkpoint_behind(const graph::NodeRef& node, const graph::Positions& positions,
                                                    std::int64_t count) {
  const auto order = positions.order();
  order->begin_pass(0, 0);
  order->skip(count - 1);
  const auto last = order->next();
  if (!last) return nullptr;
  Checkpoint behind;
  behind.kind = Checkpoint::Kind::position;
  behind.pipeline = graph::pipeline_text(node);
  behind.delivered = 1;
  behind.has_last = true;
  behind.last.ordinal = *last;
  return std::make_shared<const Checkpoint>(std::move(behind));
}

[[noreturn]] void outside(const graph::Node& node, std::int64_t index) {
  const std::int64_t count = node.flow().cardinality;
  throw Error(ErrorCode::invalid_argument,
              "there is no element " + std::to_string(index) +
                  (count < 0 ? std::string() : ": the dataset has " + std::to_string(count) + " elements"));
}

}  // namespace

Element element_at(const graph::NodeRef& node, std::int64_t index) {
  graph::cardinality(node);  // throws for a null node
  const graph::MadeOf made = graph::made_of(node);
  if (made.stranger != nullptr) refuse(node, *made.stranger);
  const std::int64_t count = made.positions.order()->size();
  if (index < 0 || count == 0 || index > (count - 1) / made.each) outside(*node, index);
  if (!exec::compile(node)->resumes_by_position) refuse(node, *node);
  RunOptions options{.pass = 0, .serial = true};
  if (index > 0) options.resume_from = checkpoint_behind(node, made.positions, index * made.each);
  if (index > 0 && !options.resume_from) outside(*node, index);
  Element element;
  const auto run = start_run(node, options);
  if (run->next(element, nullptr) != RunCore::Status::element) outside(*node, index);
  return element;
}

}  // namespace penstock::detail
