#include "lib/exec/compile.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lib/exec/branch.h"
#include "lib/exec/elementwise_stage.h"
#include "lib/exec/merge_body.h"
#include "lib/exec/opened.h"
#include "lib/graph/control_ops.h"
#include "lib/graph/node.h"
#include "lib/graph/path.h"
#include "lib/graph/traits.h"

namespace penstock::exec {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1}
                                   << 30;  // batch(largest number) means "all": nothing of it is foreseen

using graph::Kind;
using graph::Node;
using graph::Use;

// Of repeat(0): a pass ends as it begins.
class NoPass final : public StreamState {
 public:
  void begin_pass(Emitter& out) override { out.end_pass(); }
  void element(Slot&&, Emitter&) override {}
  void error(Slot&&, Emitter&) override {}
};

// nullopt: the inputs are not all positions, or the merge does not work on those.
std::optional<graph::Positions> merged(const Node& merge, const std::vector<Branch>& inputs) {
  std::vector<graph::Positions> positions;
  for (const Branch& input : inputs) {
    if (!input.positions) return std::nullopt;
    positions.push_back(*input.positions);
  }
  return graph::merged_positions(merge, std::move(positions));
}

class Compiler {
 public:
  Compiler(const graph::NodeRef& node, std::vector<Use> uses)
      : owner_(node), nodes_(std::move(uses)), plan_(std::make_shared<Plan>()) {}

  std::shared_ptr<Plan> run() {
    for (std::size_t next = 0; next < nodes_.size();) next = add(next);
    plan_->prefetch = plan_->stages.back().buffer_behind = now_.buffer;
    plan_->segments.back().repeats = now_.repeats;
    plan_->edges = Edges(std::move(edges_));
    join_repeats();
    plan_->text = graph::pipeline_text(owner_);
    plan_->work_text = graph::work_text(owner_);
    plan_->resumes_by_position = by_position_;
    plan_->keeps_numbers = now_.keeps_numbers;
    plan_->resume_stage = first_stream_ == 0 ? plan_->stages.size() : first_stream_;
    return plan_;
  }

 private:
  // A stage for the op. A source begins a branch, and any other op goes on with the present one.
  StagePlan stage_of(const Use& use) {
    const Node& node = *use.node;
    StagePlan stage;
    stage.label = label_of(node, use.number);
    stage.gives.must_be = node.gives();
    stage.random_key = use.path.random_key(node.position());
    stage.depth = now_.repeats.size();
    if (node.inputs().empty() || node.kind() == Kind::merge) return stage;
    StagePlan& before = plan_->stages[now_.last];
    before.buffer_behind = now_.buffer;
    stage.buffer = std::exchange(now_.buffer, AUTOTUNE);
    return stage;
  }

  // Where stage_of() the next one will stand.
  std::size_t next_stage() const { return plan_->stages.size(); }

  // `feeds_it`: the stage goes on with the present branch.
  void put(StagePlan stage, bool feeds_it = true) {
    if (feeds_it) edges_[now_.last].to = next_stage();
    edges_.push_back({.from = next_stage()});
    now_.last = next_stage();
    plan_->segment_of.push_back(now_.segment);
    plan_->stages.push_back(std::move(stage));
  }

  // Counts of repeats: of each segment its own, then those of the segments below.
  void join_repeats() {
    for (std::size_t i = plan_->segments.size() - 1; i-- > 0;) {
      Segment& segment = plan_->segments[i];
      const Segment& below = plan_->segments[segment_below_[i]];
      if (plan_->stages[below.head].runs_inputs_once()) {
        segment.asked_by = below.head;
        continue;
      }
      segment.asked_by = below.asked_by;
      segment.repeats.insert(segment.repeats.end(), below.repeats.begin(), below.repeats.end());
    }
  }

  // Of a node that is no stage of its own: what the stage before gives is what the node gives.
  static void note_type(StagePlan& stage, const Node& node) {
    if (node.gives() != nullptr) stage.gives.must_be = node.gives();
  }

  // Where a branch begins whose first stage is the next one. The branch before it waits for the merge.
  void begin_branch() {
    now_ = Branch{.segment = plan_->segments.size()};
    plan_->segments.push_back({.head = next_stage()});
    segment_below_.push_back(0);
  }

  // Gives the next node to add.
  std::size_t add_source(std::size_t number) {
    if (number > 0) waiting_.push_back(std::move(now_));
    begin_branch();
    const Use& use = nodes_[number];
    auto source = share<SourceOp>(owner_, *use.node);
    StagePlan stage = stage_of(use);
    stage.is_prompt = source->indexed() != nullptr;
    stage.form = source->form();
    stage.form_is_known = source->form_is_known();
    if (source->indexed() != nullptr)
      return add_positions(std::move(stage),
                           graph::positions_of({owner_, source->indexed()}, use.node->gives() == nullptr), number + 1);
    by_position_ = by_position_ && !source->readers_save();
    const bool lends = lends_to(number + 1);
    const std::uint16_t in_tree = plan_->add_source({nullptr, stage.label.position, next_stage()});
    stage.open = with_place(
        stage, [source, lends, in_tree](std::size_t, BodyHost& host, PassControl& passes) -> std::unique_ptr<Body> {
          SourceParts parts{.reader = opened(source->open()), .lends = lends, .number = in_tree};
          return std::make_unique<SourceBody>(std::move(parts), passes, host);
        });
    put_first(std::move(stage));
    return number + 1;
  }

  // With the ops behind them that work on positions. Gives the first node that does not belong to it.
  std::size_t add_positions(StagePlan stage, graph::Positions positions, std::size_t next) {
    for (; next < nodes_.size(); ++next) {
      const Node& node = *nodes_[next].node;
      auto behind = graph::positions_behind(owner_, node, positions);
      if (!behind) break;
      positions = std::move(*behind);
      stage.label.name += "+" + node.op().name();
      note_type(stage, node);
    }
    const bool lends = lends_to(next);
    const auto source =
        plan_->add_source({positions.source.get(), stage.label.position, next_stage()});  // open() keeps it
    stage.open = with_place(
        stage, [positions, lends, source](std::size_t, BodyHost& host, PassControl& passes) -> std::unique_ptr<Body> {
          SourceParts parts{.source = positions.source, .order = positions.order(), .lends = lends, .number = source};
          return std::make_unique<SourceBody>(std::move(parts), passes, host);
        });
    now_.keeps_numbers = true;
    if (stage.form == Form::computes && stage.form_is_known) now_.positions = std::move(positions);
    put_first(std::move(stage));
    return next;
  }

  // Whether elements of the branch that begins may refer to values of its source.
  bool lends_to(std::size_t next) {
    const std::size_t borrowers = count_borrowers(next);
    if (borrowers == 0) return false;
    now_.last_borrower = next_stage() + borrowers;
    return true;
  }

  // The first stage of a branch.
  void put_first(StagePlan stage) {
    now_.places_end = static_cast<int>(next_stage());
    put(std::move(stage), false);
  }

  // Behind the source, up to the first stage whose results are its own and whose calls are done with their inputs when
  // they return, filters left out. 0: elements come to others before that, who might keep them.
  std::size_t count_borrowers(std::size_t first) const {
    for (std::size_t i = first; i < nodes_.size() && nodes_[i].node->kind() == Kind::elementwise; ++i) {
      const auto* op = nodes_[i].node->as<ElementwiseOp>();
      if (op->form() == Form::completes_later) return 0;
      if (!op->passes_memory_on()) return 1 + i - first;
    }
    return 0;
  }

  // Gives the next node to add.
  std::size_t add(std::size_t number) {
    const Use& use = nodes_[number];
    const Node& node = *use.node;
    if (node.kind() == Kind::source) return add_source(number);
    if (node.kind() == Kind::merge) return add_merge(number);
    now_.positions.reset();
    switch (node.kind()) {
      case Kind::source:
      case Kind::merge: break;
      case Kind::elementwise: return add_elementwise(number);
      case Kind::stream: add_stream(use, share<StreamOp>(owner_, node)); break;
      case Kind::repeat:
        add_repeat(use, node.as<graph::RestartOp>()->count());
        note_type(plan_->stages[now_.last], node);
        break;
      case Kind::buffer:
        now_.buffer = node.as<graph::BufferOp>()->size();
        note_type(plan_->stages[now_.last], node);
        break;
    }
    return number + 1;
  }

  // Ends the branches that are its inputs, and begins one. Gives the next node to add.
  std::size_t add_merge(std::size_t number) {
    const Use& use = nodes_[number];
    waiting_.push_back(std::move(now_));
    const auto first = waiting_.end() - static_cast<std::ptrdiff_t>(use.inputs.size());
    const std::vector<Branch> inputs(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
    waiting_.erase(first, waiting_.end());
    if (auto positions = merged(*use.node, inputs)) {
      take_back(inputs.size());
      begin_branch();
      return add_positions(stage_of(use), std::move(*positions), number + 1);
    }
    begin_branch();
    add_merge(use, share<MergeOp>(owner_, *use.node), inputs);
    return number + 1;
  }

  void add_merge(const Use& use, std::shared_ptr<const MergeOp> op, const std::vector<Branch>& inputs) {
    StagePlan stage = stage_of(use);
    for (const Branch& input : inputs) end_branch(input, stage);
    for (PortPlan& port : stage.ports) port.runs_once = use.node->as<graph::RunsInputsOnce>() != nullptr;
    stage.passes_memory_on = !stage.runs_inputs_once();  // else it gives copies of what it remembers
    stage.open = with_place(stage,
                            [op, inputs = MergeInputs{stage.ports, stage.random_key}](
                                std::size_t index, BodyHost& host, PassControl& passes) -> std::unique_ptr<Body> {
                              return std::make_unique<MergeBody>(opened(op->open(inputs.ports.size())), index, inputs,
                                                                 host, passes);
                            });
    by_position_ = false;
    put_first(std::move(stage));
  }

  // The last branches, which are a stage each, are none any more.
  void take_back(std::size_t branches) {
    const auto shorten = [branches](auto& list) {
      list.erase(list.end() - static_cast<std::ptrdiff_t>(branches), list.end());
    };
    shorten(plan_->stages);
    shorten(plan_->sources);
    shorten(plan_->segments);
    shorten(plan_->segment_of);
    shorten(segment_below_);
    shorten(edges_);
  }

  // It goes on into the next input of the merge that will be the next stage.
  void end_branch(const Branch& input, StagePlan& merge) {
    plan_->stages[input.last].buffer_behind = input.buffer;
    plan_->segments[input.segment].repeats = input.repeats;
    segment_below_[input.segment] = now_.segment;
    edges_[input.last].to = next_stage();
    edges_[input.last].port = merge.ports.size();
    merge.ports.push_back(
        {.depth = input.repeats.size(), .buffer = input.buffer, .keeps_numbers = input.keeps_numbers});
  }

  // With those that share its calls. Gives the next node to add.
  std::size_t add_elementwise(std::size_t number) {
    StagePlan stage = stage_of(nodes_[number]);
    const std::vector<FusedOp> ops = ops_of_a_call(owner_, std::span(nodes_).subspan(number));
    note_calls(stage, *nodes_[number].node);
    for (const FusedOp& each : ops) {
      now_.keeps_numbers = now_.keeps_numbers && each.op->declares() == Declares::one_each;
      by_position_ = by_position_ && each.op->order() == Order::kept && !each.op->has_state() && !stage.is_nest() &&
                     !(first_stream_ != 0 && each.op->may_fan_out());
      if (!each.op->passes_memory_on()) stage.gives.bytes = bytes_of_results(*each.op);
      if (&each != &ops.front()) stage.label.name += "+" + each.label.name;
      foresee_through(each.op);
    }
    stage.open = body_of(ops, next_stage() == now_.last_borrower, stage);
    if (stage.order == Order::arbitrary && plan_->arbitrary_stage == 0) plan_->arbitrary_stage = next_stage();
    put(std::move(stage));
    return number + ops.size();
  }

  // An element-wise op: unbatch hands on what the stage before has made; what else makes elements is to know where they
  // will lie.
  void foresee_through(const std::shared_ptr<const ElementwiseOp>& op) {
    if (dynamic_cast<const graph::TakesApart*>(op.get()) != nullptr) {
      now_.ahead.takes_apart = true;
      return;
    }
    const bool makes_elements = op->order() == Order::kept && !op->passes_memory_on() &&
                                dynamic_cast<const graph::OpensDatasets*>(op.get()) == nullptr;
    now_.places_end = static_cast<int>(next_stage());
    now_.maker = makes_elements ? next_stage() : 0;
    now_.ahead = {.declares = op->declares(), .op = op};
  }

  void foresee_through(const StreamOp& op, std::size_t depth, StagePlan& stage) {
    if (dynamic_cast<const graph::KeepsElements*>(&op) != nullptr) return;
    if (dynamic_cast<const graph::PutsTogether*>(&op) != nullptr) stage.batch.places_end = now_.places_end;
    now_.places_end = static_cast<int>(next_stage());
    if (const auto* batch = dynamic_cast<const graph::PutsTogether*>(&op);
        batch != nullptr && now_.maker != 0 && batch->batch_size() <= kMostRows) {
      now_.ahead.size = batch->batch_size();
      now_.ahead.depth = depth;
      plan_->stages[now_.maker].batch = now_.ahead;
    }
    now_.maker = 0;
  }

  void add_stream(const Use& use, std::shared_ptr<const StreamOp> op) {
    StagePlan stage = stage_of(use);
    const std::size_t depth = stage.depth;
    const bool keeps_numbers = std::exchange(now_.keeps_numbers, false);
    stage.form = op->form();
    stage.form_is_known = op->form_is_known();
    stage.passes_memory_on = true;
    stage.holding = {op->elements_held(), op->bytes_of_place()};
    stage.open = with_place(
        stage, [op, depth, keeps_numbers](std::size_t index, BodyHost& host, PassControl&) -> std::unique_ptr<Body> {
          return std::make_unique<StreamBody>(opened(op->open(0)), index, depth, host,
                                              StreamSaves::Traits{op->is_as_new_after_output(), keeps_numbers});
        });
    by_position_ = by_position_ && op->is_as_new_after_output();
    if (first_stream_ == 0) first_stream_ = next_stage();
    foresee_through(*op, depth, stage);
    put(std::move(stage));
  }

  void add_repeat(const Use& use, std::int64_t count) {
    if (count == 1) return;
    if (count == 0) return add_nothing(use);
    if (count < 0) add_endless_repeat(use);
    now_.repeats.push_back(count);
  }

  void add_nothing(const Use& use) {
    StagePlan stage = stage_of(use);
    stage.passes_memory_on = true;
    stage.open = [depth = stage.depth](std::size_t index, BodyHost& host, PassControl&) -> std::unique_ptr<Body> {
      return std::make_unique<StreamBody>(std::make_unique<NoPass>(), index, depth, host);
    };
    by_position_ = false;
    if (first_stream_ == 0) first_stream_ = next_stage();
    now_.places_end = static_cast<int>(next_stage());
    now_.maker = 0;
    put(std::move(stage));
  }

  void add_endless_repeat(const Use& use) {
    StagePlan stage = stage_of(use);
    const std::size_t depth = stage.depth;
    stage.passes_memory_on = true;
    stage.open = [depth, place = place_of(stage.label)](std::size_t index, BodyHost& host,
                                                        PassControl&) -> std::unique_ptr<Body> {
      return std::make_unique<RepeatBody>(index, depth, host, place);
    };
    put(std::move(stage));
  }

  graph::NodeRef owner_;
  const std::vector<Use> nodes_;
  std::shared_ptr<Plan> plan_;
  std::vector<Edge> edges_;
  Branch now_;
  std::vector<Branch> waiting_;             // for the merge that they are inputs of, in that order
  std::vector<std::size_t> segment_below_;  // by segment; of the last one there is none
  bool by_position_ = true;
  std::size_t first_stream_ = 0;  // 0: none yet
};

}  // namespace

std::shared_ptr<const Plan> compile(const graph::NodeRef& node) { return Compiler(node, graph::uses(node)).run(); }

std::shared_ptr<const Plan> compile(const graph::NodeRef& node, graph::Rewritten as_run) {
  auto plan = Compiler(node, std::move(as_run.uses)).run();
  if (as_run.changes.empty()) return plan;
  plan->resumes_by_position = plan->resumes_by_position && compile(node)->resumes_by_position;
  for (const std::string& change : as_run.changes) plan->work_text += change + "\n";
  plan->changes = std::move(as_run.changes);
  return plan;
}

}  // namespace penstock::exec
