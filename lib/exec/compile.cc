#include "lib/exec/compile.h"

#include <exception>
#include <string>
#include <utility>

#include <penstock/error.h>

#include "lib/exec/opened.h"
#include "lib/graph/control_ops.h"
#include "lib/graph/node.h"
#include "lib/graph/path.h"
#include "lib/graph/positions.h"
#include "lib/graph/traits.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1}
                                   << 30;  // batch(largest number) means "all": nothing of it is foreseen

using graph::Kind;
using graph::Node;

// The node's op, kept alive by the whole graph.
template <class Interface> std::shared_ptr<const Interface> share(const graph::NodeRef& owner, const Node& node) {
  return {owner, node.as<Interface>()};
}

// Where a step stands in the user's code: "mine (op 1 at train.cc:12)".
std::string place_of(const StagePlan& stage) {
  const StageLabel& label = stage.label;
  return label.op + " (op " + std::to_string(label.position) + (label.call_site.empty() ? "" : " at ") +
         label.call_site + ")";
}

using Open = decltype(StagePlan::open);

// Of repeat(0): a pass ends as it begins.
class NoPass final : public StreamState {
 public:
  void begin_pass(Emitter& out) override { out.end_pass(); }
  void element(Slot&&, Emitter&) override {}
  void error(Slot&&, Emitter&) override {}
};

// What an op's open() throws belongs to no element, and ends every request of the run: it is to say whose it is.
Open with_place(const StagePlan& stage, Open open) {
  return [place = place_of(stage), open = std::move(open)](std::size_t index, BodyHost& host, PassControl& passes) {
    try {
      return open(index, host, passes);
    } catch (...) {
      const auto error = std::current_exception();
      throw Error(code_of(error), place + " could not be opened: " + message_of(error));
    }
  };
}

using PositionOps = std::vector<std::shared_ptr<const StreamOp>>;

std::unique_ptr<IndexSequence> make_order(const SourceOp& source, const PositionOps& ops) {
  auto order = graph::all_positions(source.indexed()->size());
  for (const auto& op : ops) order = op->over_index(std::move(order));
  return order;
}

class Compiler {
 public:
  explicit Compiler(const graph::NodeRef& node) : owner_(node), plan_(std::make_shared<Plan>()) {}

  std::shared_ptr<const Plan> run() {
    const auto nodes = graph::chain(owner_);
    std::size_t next = add_source(nodes);
    for (; next < nodes.size(); ++next) add(*nodes[next]);
    plan_->prefetch = plan_->stages.back().buffer_behind = buffer_;
    plan_->edges = Edges::chain(plan_->stages.size());
    plan_->text = graph::pipeline_text(owner_);
    plan_->work_text = graph::work_text(owner_);
    plan_->resumes_by_position = by_position_;
    plan_->resume_stage = first_stream_ == 0 ? plan_->stages.size() : first_stream_;
    return plan_;
  }

 private:
  StagePlan stage_of(const Node& node) {
    StagePlan stage;
    stage.label.op = graph::title_of(node);
    stage.label.name = graph::label_of(node);
    stage.gives = node.gives();
    stage.label.call_site = graph::to_string(node.site());
    stage.label.position = node.position();
    stage.random_key = path_.random_key(node.position());
    stage.depth = plan_->repeats.size();
    if (!plan_->stages.empty()) plan_->stages.back().buffer_behind = buffer_;
    stage.buffer = std::exchange(buffer_, AUTOTUNE);
    return stage;
  }

  // Of a node that is no stage of its own: what the stage before gives is what the node gives.
  static void note_type(StagePlan& stage, const Node& node) {
    if (node.gives() != nullptr) stage.gives = node.gives();
  }

  // The source, with the ops behind it that work on positions. Gives the first node that does not belong to it.
  std::size_t add_source(const std::vector<const Node*>& nodes) {
    auto source = share<SourceOp>(owner_, *nodes[0]);
    StagePlan stage = stage_of(*nodes[0]);
    PositionOps ops;
    std::size_t next = 1;
    const bool indexed = source->indexed() != nullptr;
    stage.is_prompt = indexed;
    stage.form = source->form();
    stage.form_is_known = source->form_is_known();
    if (indexed) {
      plan_->names = source->indexed();
      for (; next < nodes.size() && works_on_positions(*nodes[next], *source); ++next) {
        ops.push_back(share<StreamOp>(owner_, *nodes[next]));
        stage.label.name += "+" + nodes[next]->op().name();
        note_type(stage, *nodes[next]);
      }
    }
    last_borrower_ = find_last_borrower(nodes, next);
    const bool lends = last_borrower_ != 0;
    stage.open = with_place(
        stage, [source, ops, indexed, lends](std::size_t, BodyHost&, PassControl& passes) -> std::unique_ptr<Body> {
          SourceParts parts{source, indexed ? make_order(*source, ops) : nullptr, lends};
          return std::make_unique<SourceBody>(std::move(parts), passes);
        });
    plan_->stages.push_back(std::move(stage));
    return next;
  }

  // The first stage behind the source, filters left out, whose results are its own and whose calls are done with their
  // inputs when they return. 0: elements come to others before that, who might keep them.
  static std::size_t find_last_borrower(const std::vector<const Node*>& nodes, std::size_t first) {
    for (std::size_t i = first; i < nodes.size() && nodes[i]->kind() == Kind::elementwise; ++i) {
      const auto* op = nodes[i]->as<ElementwiseOp>();
      if (op->form() == Form::completes_later) return 0;
      if (!op->passes_memory_on()) return 1 + i - first;
    }
    return 0;
  }

  static bool works_on_positions(const Node& node, const SourceOp& source) {
    if (node.kind() != Kind::stream) return false;
    return node.as<StreamOp>()->over_index(graph::all_positions(source.indexed()->size())) != nullptr;
  }

  void add(const Node& node) {
    switch (node.kind()) {
      case Kind::elementwise: return add_elementwise(node);
      case Kind::stream: return add_stream(node, share<StreamOp>(owner_, node));
      case Kind::repeat:
        add_repeat(node, node.as<graph::RestartOp>()->count());
        return note_type(plan_->stages.back(), node);
      case Kind::buffer: buffer_ = node.as<graph::BufferOp>()->size(); return note_type(plan_->stages.back(), node);
      case Kind::source: return;  // append() lets a source stand only at the beginning
    }
  }

  void add_elementwise(const Node& node) {
    auto op = share<ElementwiseOp>(owner_, node);
    StagePlan stage = stage_of(node);
    stage.serial = false;
    stage.form = op->form();
    stage.form_is_known = op->form_is_known();
    stage.order = op->order();
    stage.has_state = op->has_state();
    stage.is_reentrant = graph::is_reentrant(*op);
    stage.parallelism = graph::calls_at_once(*op);
    stage.passes_memory_on = op->passes_memory_on();
    const std::size_t depth = stage.depth;
    const bool borrows = plan_->stages.size() == last_borrower_;
    stage.open = [op, borrows, depth](std::size_t, BodyHost&, PassControl&) -> std::unique_ptr<Body> {
      return std::make_unique<ElementwiseBody>(op, borrows, depth);
    };
    if (op->order() == Order::arbitrary && plan_->arbitrary_stage == 0) plan_->arbitrary_stage = plan_->stages.size();
    by_position_ =
        by_position_ && op->order() == Order::kept && !op->has_state() && !(first_stream_ != 0 && op->may_fan_out());
    foresee_through(op);
    plan_->stages.push_back(std::move(stage));
  }

  // An element-wise op: unbatch hands on what the stage before has made; what else makes elements is to know where they
  // will lie.
  void foresee_through(const std::shared_ptr<const ElementwiseOp>& op) {
    if (dynamic_cast<const graph::TakesApart*>(op.get()) != nullptr) {
      ahead_.takes_apart = true;
      return;
    }
    const bool makes_elements = op->order() == Order::kept && !op->passes_memory_on();
    places_end_ = static_cast<int>(plan_->stages.size());
    maker_ = makes_elements ? plan_->stages.size() : 0;
    ahead_ = {.declares = op->declares(), .op = op};
  }

  void foresee_through(const StreamOp& op, std::size_t depth, StagePlan& stage) {
    if (dynamic_cast<const graph::KeepsElements*>(&op) != nullptr) return;
    if (dynamic_cast<const graph::PutsTogether*>(&op) != nullptr) stage.places_end = places_end_;
    places_end_ = static_cast<int>(plan_->stages.size());
    if (const auto* batch = dynamic_cast<const graph::PutsTogether*>(&op);
        batch != nullptr && maker_ != 0 && batch->batch_size() <= kMostRows) {
      ahead_.size = batch->batch_size();
      ahead_.depth = depth;
      plan_->stages[maker_].batch = ahead_;
    }
    maker_ = 0;
  }

  void add_stream(const Node& node, std::shared_ptr<const StreamOp> op) {
    StagePlan stage = stage_of(node);
    const std::size_t depth = stage.depth;
    stage.form = op->form();
    stage.form_is_known = op->form_is_known();
    stage.passes_memory_on = true;
    stage.holding = {op->elements_held(), op->bytes_of_place()};
    stage.open =
        with_place(stage, [op, depth](std::size_t index, BodyHost& host, PassControl&) -> std::unique_ptr<Body> {
          return std::make_unique<StreamBody>(opened(op->open(0)), index, depth, host);
        });
    by_position_ = by_position_ && op->is_as_new_after_output();
    if (first_stream_ == 0) first_stream_ = plan_->stages.size();
    foresee_through(*op, depth, stage);
    plan_->stages.push_back(std::move(stage));
  }

  void add_repeat(const Node& node, std::int64_t count) {
    if (count == 1) return;
    if (count == 0) return add_nothing(node);
    if (count < 0) add_endless_repeat(node);
    plan_->repeats.push_back(count);
  }

  void add_nothing(const Node& node) {
    StagePlan stage = stage_of(node);
    stage.passes_memory_on = true;
    stage.open = [depth = stage.depth](std::size_t index, BodyHost& host, PassControl&) -> std::unique_ptr<Body> {
      return std::make_unique<StreamBody>(std::make_unique<NoPass>(), index, depth, host);
    };
    by_position_ = false;
    if (first_stream_ == 0) first_stream_ = plan_->stages.size();
    places_end_ = static_cast<int>(plan_->stages.size());
    maker_ = 0;
    plan_->stages.push_back(std::move(stage));
  }

  void add_endless_repeat(const Node& node) {
    StagePlan stage = stage_of(node);
    const std::size_t depth = stage.depth;
    stage.passes_memory_on = true;
    stage.open = [depth, place = place_of(stage)](std::size_t index, BodyHost& host,
                                                  PassControl&) -> std::unique_ptr<Body> {
      return std::make_unique<RepeatBody>(index, depth, host, place);
    };
    plan_->stages.push_back(std::move(stage));
  }

  graph::NodeRef owner_;
  const graph::Path path_;  // of the chain that all stages are in
  std::shared_ptr<Plan> plan_;
  Tunable buffer_ = AUTOTUNE;      // asked for by a prefetch for the stage to come
  std::size_t last_borrower_ = 0;  // the last stage whose inputs may refer to values of the source; 0: none
  bool by_position_ = true;
  std::size_t first_stream_ = 0;  // 0: none yet
  std::size_t maker_ = 0;  // the stage whose results the next op gets, in their order and all of them; 0: there is none
  int places_end_ = 0;     // the stage whose results the next op gets; those of stages before it have no place there
  BatchAhead ahead_;       // what is known of the batch that they go to
};

}  // namespace

std::shared_ptr<const Plan> compile(const graph::NodeRef& node) { return Compiler(node).run(); }

}  // namespace penstock::exec
