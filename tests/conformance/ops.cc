// From the cases of the ops (tests/ops/NAME_case.h) to cases of the suite. The ops of ops/imagenet have theirs in
// image_ops.cc, merges theirs in merges.cc, and lines its own in line_files.cc.
#include "tests/conformance/ops.h"

#include <stdexcept>
#include <string_view>
#include <variant>

#include "tests/conformance/image_ops.h"
#include "tests/conformance/line_files.h"
#include "tests/conformance/merges.h"
#include "tests/conformance/token_harness.h"
#include "tests/ops/all_cases.h"

namespace conformance {
namespace {

using op_cases::How;
using op_cases::Line;

// What a line can be over: tokens, and batches of them. What comes of it may be lists and pairs, too.
template <class T> using Batches = decltype(std::declval<ps::Dataset<T>>().batch(1));
template <class T> using Lists = ps::Dataset<std::vector<T>>;
template <class T> using Pairs = ps::Dataset<std::tuple<std::int64_t, T>>;
template <class T> using AnyDataset = std::variant<ps::Dataset<T>, Batches<T>, Lists<T>, Pairs<T>>;

template <class Described, class T, class In> AnyDataset<T> append(const In& in, const TokenHarness<T>& harness) {
  constexpr bool fits = std::is_same_v<In, std::conditional_t<Described::kTakesBatches, Batches<T>, ps::Dataset<T>>>;
  constexpr bool may_copy = std::copy_constructible<T> || std::string_view(Described::kOnlyCopyable).empty();
  if constexpr (!Described::kIsSource && fits && may_copy) return Described::build(in, harness);
  throw std::logic_error("a line of " + std::string(model::name_of(harness.op.kind)) + " cannot be built");
}

template <class T> Built build(const Line& line, const std::vector<Op>& ops, const Feed& feed) {
  AnyDataset<T> any = input_of<T>(line.over_positions ? Place::positions : Place::stream, feed);
  for (const Op& op : ops) {
    const TokenHarness<T> harness(op, &op == &ops.back() ? line.how : How{}, feed);
    any = op_cases::with_case(op.kind, [&]<class Described>(Described) {
      return std::visit([&](const auto& in) { return append<Described>(in, harness); }, any);
    });
  }
  return std::visit([](const auto& dataset) { return built(dataset); }, any);
}

template <class Described, class T> Built build_source(const Line& line, const Op& op, const Feed& feed) {
  return built(Described::build(TokenHarness<T>(op, line.how, feed)));
}

template <class Described> Traits traits_of(const Line& line) {
  Traits traits{.calls_function = Described::kCallsFunction,
                .drops_errors = Described::kDropsErrors,
                .holds_unknown = Described::kHoldsUnknown,
                .bytes_beside = Described::kBytesBeside,
                .least_count = Described::kLeastCount,
                .only_copyable = Described::kOnlyCopyable};
  if (line.over_positions) traits.place = Place::positions;
  if (Described::kIsSource) traits.place = Place::source;
  return traits;
}

template <class Described> Case case_of(const Line& line) {
  Case result{
      .name = line.name, .ops = line.ops, .traits = traits_of<Described>(line), .build = {}, .build_move_only = {}};
  if constexpr (!Described::kIsSource) {
    result.build = [line](const auto& ops, const Feed& feed) { return build<Token>(line, ops, feed); };
    if constexpr (std::string_view(Described::kOnlyCopyable).empty())
      result.build_move_only = [line](const auto& ops, const Feed& feed) {
        return build<MoveOnlyToken>(line, ops, feed);
      };
  } else {
    result.build = [line](const auto& ops, const Feed& feed) {
      return build_source<Described, Token>(line, ops.front(), feed);
    };
    if constexpr (std::string_view(Described::kOnlyCopyable).empty())
      result.build_move_only = [line](const auto& ops, const Feed& feed) {
        return build_source<Described, MoveOnlyToken>(line, ops.front(), feed);
      };
  }
  return result;
}

}  // namespace

std::vector<Case> all_ops() {
  std::vector<Case> all = image_ops();
  for (const Kind kind : op_cases::all_kinds())
    op_cases::with_case(kind, [&]<class Described>(Described) {
      for (const Line& line : Described::lines()) all.push_back(case_of<Described>(line));
    });
  for (Case& merge : all_merges()) all.push_back(std::move(merge));
  for (Case& source : line_sources()) all.push_back(std::move(source));
  return all;
}

}  // namespace conformance
