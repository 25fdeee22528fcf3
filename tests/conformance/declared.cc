// What an op says of itself is true: name, parameters, cardinality, ratio, what it holds. Its body
// is called here directly, without an engine.
#include <algorithm>
#include <future>

#include "lib/graph/node.h"
#include "tests/conformance/check.h"
#include "tests/support/recording_emitter.h"

namespace conformance {
namespace {

using ps::graph::Node;

constexpr std::int64_t kCount = 12;

// ------------------------------------------------------------------------------------------------
// cardinality

std::int64_t rows_in(const std::string& text) { return text == "[]" ? 0 : 1 + std::ranges::count(text, ' '); }

void check_flow(const Case& tested, std::int64_t count, Findings& findings) {
  const Experiment experiment(tested, {.count = count});
  const ps::Flow flow = experiment.node()->flow();
  const Texts expected = experiment.expected();
  const std::string of = " of " + std::to_string(count) + " inputs";
  if (flow.cardinality != ps::UNKNOWN_CARDINALITY)
    findings.expect_equal("cardinality" + of, flow.cardinality, static_cast<std::int64_t>(expected.size()));
  if (flow.leading_dimension != ps::UNKNOWN_CARDINALITY)
    for (const std::string& text : expected)
      findings.expect_equal("leading_dimension" + of, flow.leading_dimension, rows_in(text));
}

// ------------------------------------------------------------------------------------------------
// name and parameters

// Two pipelines whose ops differ must not look the same to a checkpoint.
void check_text(const Op& described, const ps::Op& op, Findings& findings) {
  if (op.name() != model::name_of(described))
    findings.add("its name is '" + op.name() + "', must be '" + model::name_of(described) + "'");
  const std::string parameters = op.parameters();
  for (const std::int64_t number : {described.count, described.index})
    if (number > 0 && parameters.find(std::to_string(number)) == std::string::npos)
      findings.add("its parameters '" + parameters + "' do not tell " + std::to_string(number));
}

// ------------------------------------------------------------------------------------------------
// calls of an elementwise op

// The first that the op behind `node` receives.
std::vector<ps::Slot> inputs_of(const Node& node) {
  const RunRef run = ps::detail::start_run(node.inputs().front(), {.serial = true});
  std::vector<ps::Slot> slots;
  ps::Element element;
  while (std::ssize(slots) < kCount && run->next(element, nullptr) == ps::detail::RunCore::Status::element) {
    const ps::Stamp stamp{.ordinal = static_cast<std::int64_t>(slots.size())};
    const auto bytes = static_cast<std::int64_t>(element.bytes() + sizeof(ps::Slot));
    slots.push_back(ps::testing::element_slot(std::move(element), stamp, bytes));
  }
  return slots;
}

// Makes the answer of a Completion one of a slot.
class Answer final : public ps::Completion::Target {
 public:
  void finish(ps::Slot::Kind kind, ps::Element value) noexcept override {
    ps::Slot slot(std::move(value), {});
    slot.set_kind(kind);
    answer_.set_value(std::move(slot));
  }
  ps::Slot get() { return answer_.get_future().get(); }

 private:
  std::promise<ps::Slot> answer_;
};

void call(const ps::ElementwiseOp& op, std::span<ps::Slot> slots) {
  ps::Context context({}, 0);
  if (op.form() != ps::Form::completes_later) return op.run(slots, context);
  for (ps::Slot& slot : slots) {
    context.enter(slot);
    const auto answer = std::make_shared<Answer>();
    try {
      op.start(std::move(slot.value), context, ps::Completion(answer));
      slot = answer->get();
    } catch (...) {
      slot.fail(std::current_exception());
    }
  }
}

// What an input holds, and what the op foretells of its result.
struct Input {
  std::size_t bytes;
  std::optional<std::size_t> hint;  // bytes of the result
};

void check_results(const ps::ElementwiseOp& op, std::span<ps::Slot> slots, const std::vector<Input>& inputs,
                   Findings& findings) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    ps::Slot& slot = slots[i];
    const std::string which = " element " + std::to_string(i);
    std::size_t results = slot.kind() == ps::Slot::Kind::dropped ? 0 : 1;
    std::size_t held = slot.is_element() ? slot.value.bytes() : 0;
    if (slot.kind() == ps::Slot::Kind::many) {
      results = slot.results().size();
      for (std::size_t result = 0; result < results; ++result) held += slot.results().take(result).bytes();
    }
    if (results > 1 && !op.may_fan_out())
      findings.add("may_fan_out() is false, but" + which + " becomes " + std::to_string(results));
    if (op.passes_memory_on() && held > inputs[i].bytes)
      findings.add("passes_memory_on() is true, but" + which + " grows");
    if (held > inputs[i].hint.value_or(held))
      findings.add("bytes_hint() is " + std::to_string(*inputs[i].hint) + ", but" + which + " becomes " +
                   std::to_string(held) + " bytes");
  }
}

void check_elementwise(const ps::ElementwiseOp& op, const Node& node, Findings& findings) {
  std::vector<ps::Slot> slots = inputs_of(node);
  std::vector<Input> inputs;
  for (const ps::Slot& slot : slots) inputs.push_back({slot.value.bytes(), op.bytes_hint(slot.value)});
  call(op, slots);
  check_results(op, slots, inputs, findings);
}

std::size_t results_of(const Experiment& experiment, const ps::Slot& slot) {
  if (slot.kind() == ps::Slot::Kind::many) return slot.results().size();
  return slot.is_element() ? experiment.results_in(slot.value) : 0;
}

// An op that asks for its outputs says how many there are before it has them. Of the last op.
void check_outputs(const Experiment& experiment, Findings& findings) {
  const Node& node = *experiment.node();
  const auto* op = node.as<ps::ElementwiseOp>();
  if (op == nullptr || op->form() == ps::Form::completes_later) return;
  std::vector<ps::Slot> slots = inputs_of(node);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    ps::Context context({}, 0);
    op->run({&slots[i], 1}, context);
    const std::size_t declared = context.outputs().declared();
    if (declared > 0)
      findings.expect_equal("outputs().declare() for element " + std::to_string(i), static_cast<std::int64_t>(declared),
                            static_cast<std::int64_t>(results_of(experiment, slots[i])));
  }
}

// One element of a call fails: the others must be answered.
void check_failing_call(const Case& tested, Findings& findings) {
  constexpr std::int64_t kFails = 4;
  const Experiment experiment(tested, {.count = kCount, .function_fails = {1'000'003, kFails}});
  const Node& node = *experiment.node();
  const auto* op = node.as<ps::ElementwiseOp>();
  if (op == nullptr || tested.ops.back().loses.mod > 0) return;
  std::vector<ps::Slot> slots = inputs_of(node);
  call(*op, slots);
  for (const ps::Slot& slot : slots)
    findings.expect_equal("that input " + std::to_string(slot.stamp.ordinal) + " fails",
                          slot.kind() == ps::Slot::Kind::failed, slot.stamp.ordinal == kFails);
}

// ------------------------------------------------------------------------------------------------
// what a stream op holds

// Destroys what it is given.
class Drain final : public ps::Emitter {
 public:
  void emit(ps::Element value, const ps::Stamp&) override { value.reset(); }
  void forward(ps::Slot&& slot) override { slot.value.reset(); }
  void end_pass() override {}
};

struct Held {
  std::int64_t tokens = 0;
  std::int64_t bytes = 0;
};

// `place`: what the op needs for each element beside its value; `beside`: what it may hold beside these.
void check_bytes(const std::string& when, const Held& held, std::int64_t place, std::int64_t beside,
                 Findings& findings) {
  const std::int64_t least = held.tokens * (static_cast<std::int64_t>(kTokenBytes) + place);
  findings.expect_equal("held_bytes() " + when, held.bytes, std::clamp(held.bytes, least, least + beside));
}

// Most that was inside together with the element that came, in one pass.
std::int64_t most_held(ps::StreamState& state, std::vector<ps::Slot> slots, std::int64_t place, std::int64_t beside,
                       const Census& census, Findings& findings) {
  Drain drain;
  state.begin_pass(drain);
  Held held;
  std::int64_t most = 0;
  std::int64_t outside = census.alive();
  std::int64_t number = 0;
  for (ps::Slot& slot : slots) {
    const std::int64_t tokens = static_cast<std::int64_t>(slot.value.bytes() / kTokenBytes);
    most = std::max(most, held.tokens + tokens);
    state.element(std::move(slot), drain);
    slot.value.reset();
    outside -= tokens;
    held = {census.alive() - outside, state.held_bytes()};
    check_bytes("after " + std::to_string(++number) + " elements", held, place, beside, findings);
  }
  while (state.flush(drain)) {
  }
  state.pass_end(drain);
  held = {census.alive(), state.held_bytes()};
  findings.expect_equal("what it holds behind the end of a pass", held.tokens, 0);
  check_bytes("behind the end of a pass", held, place, 0, findings);
  return most;
}

void check_stream(const Traits& traits, const ps::StreamOp& op, const Node& node, const Census& census,
                  Findings& findings) {
  const auto state = op.open(0);
  const std::int64_t declared = std::min(op.elements_held(), kCount);
  for (int pass = 0; pass < 2; ++pass) {
    const std::int64_t measured =
        most_held(*state, inputs_of(node), op.bytes_of_place(), traits.bytes_beside, census, findings);
    findings.expect_equal("elements_held() as measured in pass " + std::to_string(pass),
                          traits.holds_unknown ? std::min(measured, declared) : measured, declared);
  }
}

}  // namespace

void check_declarations(const Case& tested, Findings& findings) {
  for (std::int64_t count = tested.traits.least_count; count <= kCount; ++count) check_flow(tested, count, findings);
  const Experiment experiment(tested, {.count = kCount});
  const std::vector<ps::graph::Use> chain = ps::graph::uses(experiment.node());
  const std::size_t before = chain.size() - tested.ops.size();
  for (std::size_t i = 0; i < tested.ops.size(); ++i) {
    const Node& node = *chain[before + i].node;
    if (node.kind() != ps::graph::Kind::source) check_text(tested.ops[i], node.op(), findings);
    if (const auto* op = node.as<ps::ElementwiseOp>()) check_elementwise(*op, node, findings);
    if (const auto* op = node.as<ps::StreamOp>()) check_stream(tested.traits, *op, node, experiment.census(), findings);
  }
  check_outputs(experiment, findings);
  if (tested.traits.calls_function) check_failing_call(tested, findings);
}

}  // namespace conformance
