#include "tests/support/random_graphs/graph_builder.h"

#include <stdexcept>
#include <type_traits>
#include <variant>

#include "tests/ops/all_cases.h"
#include "tests/support/random_graphs/own_ops.h"
#include "tests/support/random_graphs/value_harness.h"

namespace random_graphs {

using model::Kind;
using model::Op;

namespace {

using Numbers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;
using Values = std::vector<Value>;
using Pair = std::tuple<std::int64_t, Value>;
using AnyDataset = std::variant<ps::Dataset<std::int64_t>, ps::Dataset<std::string>, ps::Dataset<Value>,
                                ps::Dataset<Numbers>, ps::Dataset<Names>, ps::Dataset<Values>, ps::Dataset<Pair>>;

AnyDataset source(const Op& op, const How& how, const Workbench& bench) {
  return op_cases::with_case(op.kind, [&]<class Case>(Case) -> AnyDataset {
    if constexpr (Case::kIsSource) return Case::build(ValueHarness<Value>(op, how, bench));
    throw std::logic_error("drawn: no source at the beginning");
  });
}

// Whether the op can be written behind elements of type T, and what it makes is among the types of these graphs.
template <class Case, class T> constexpr bool can_be_written() {
  constexpr bool is_batch = ps::Unbatchable<T> && !std::is_same_v<T, Value>;
  constexpr bool is_pair = std::is_same_v<T, Pair>;
  if (Case::kIsSource || (Case::kMakesBatches && (is_batch || is_pair))) return false;
  if (Case::kMakesPairs && !std::is_same_v<T, Value>) return false;
  if (Case::kRemembers && (is_batch || is_pair)) return false;
  if (Case::kMakesSameBatches && !ps::detail::IsBatch<T>::value) return false;
  return ps::Unbatchable<T> || !Case::kTakesBatches;
}

template <class T> AnyDataset append(const ps::Dataset<T>& in, const Op& op, const How& how, const Workbench& bench) {
  return op_cases::with_case(op.kind, [&]<class Case>(Case) -> AnyDataset {
    if constexpr (can_be_written<Case, T>()) return Case::build(in, ValueHarness<T>(op, how, bench));
    throw std::logic_error(std::string("drawn behind elements of a type that it cannot take: ") +
                           model::name_of(op.kind));
  });
}

AnyDataset append(const AnyDataset& any, const Op& op, const How& how, const Workbench& bench) {
  return std::visit(
      [&](const auto& in) -> AnyDataset {
        using In = std::decay_t<decltype(in)>;
        if (!how.applied) return append(in, op, how, bench);
        return in.apply([&](const In& dataset) { return append(dataset, op, how, bench); });
      },
      any);
}

AnyDataset recorded(const AnyDataset& any, const std::vector<Op>& before, model::Tape& tape) {
  return std::visit(
      [&]<class T>(const ps::Dataset<T>& in) -> AnyDataset {
        return in.template then<T>(std::make_shared<Recorder<T>>(tape, before));
      },
      any);
}

}  // namespace

std::string Workbench::path(const Op& op, std::int64_t i) const {
  return folder + "/images/" + std::to_string(model::source_value(op, i).number) + ".jpg";
}

Built build_graph(const Graph& graph, const Workbench& bench, std::vector<model::Tape>* tapes) {
  AnyDataset any = source(graph.ops[0], graph.how[0], bench);
  if (tapes != nullptr) tapes->assign(graph.ops.size(), {});
  bool arbitrary = false;
  for (std::size_t i = 1; i < graph.ops.size(); ++i) {
    arbitrary = arbitrary || graph.ops[i].arbitrary;
    any = append(any, graph.ops[i], graph.how[i], bench);
    if (tapes != nullptr && graph.ops[i].kind == Kind::shuffle && !arbitrary)
      any = recorded(any, {graph.ops.begin(), graph.ops.begin() + static_cast<std::ptrdiff_t>(i)}, (*tapes)[i]);
  }
  return std::visit(
      []<class T>(const ps::Dataset<T>& dataset) {
        return Built{dataset.node(), [](ps::Element& element) { return value_of(element.take<T>()); }};
      },
      any);
}

}  // namespace random_graphs
