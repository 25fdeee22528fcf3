// map, filter, flat_map, unbatch: what they share, and what each does with its function.
#include <penstock/dataset.h>
#include <penstock/ops.h>
#include <penstock/sources.h>

#include <functional>
#include <memory>
#include <string>

#include "tests/ops/op_checks.h"
#include "tests/support/expect_error.h"
#include "tests/support/recording_emitter.h"

namespace penstock {
namespace {

using ::testing::ElementsAre;
using testing::INF;
using testing::UNK;

template <class F> detail::FunctionRef map_function(F function) {
  return std::make_shared<detail::MapFunction<F, std::int64_t>>(std::move(function));
}
template <class F> detail::FunctionRef predicate(F function) {
  return std::make_shared<detail::FilterFunction<F, std::int64_t>>(std::move(function));
}
template <class T, class F> detail::FunctionRef many_function(F function) {
  using Apart = detail::Flatten<detail::Result<F, T>>;
  return std::make_shared<detail::ManyFunction<F, T, typename Apart::value_type, Apart>>(std::move(function));
}
template <class T> detail::FunctionRef unbatch_function() {
  return std::make_shared<detail::ManyFunction<std::identity, T, typename Unbatch<T>::value_type, Unbatch<T>>>(
      std::identity{});
}

const ElementwiseOp& as_elementwise(const OpRef& op) { return dynamic_cast<const ElementwiseOp&>(*op); }

template <class T> std::vector<Slot> slots_of(std::vector<T> values) {
  std::vector<Slot> slots;
  for (T& value : values) {
    Stamp stamp;
    stamp.ordinal = static_cast<std::int64_t>(slots.size());
    slots.emplace_back(Element(std::move(value)), stamp);
  }
  return slots;
}

template <class T> std::vector<Slot> run(const OpRef& op, std::vector<T> values) {
  std::vector<Slot> slots = slots_of(std::move(values));
  Context context({}, 0);
  as_elementwise(op).run(slots, context);
  return slots;
}

std::vector<std::int64_t> integers(Slot& slot) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < slot.results().size(); ++i) values.push_back(slot.results().take(i).take<std::int64_t>());
  return values;
}

const auto twice = [](std::int64_t x) { return 2 * x; };
const auto is_even = [](std::int64_t x) { return x % 2 == 0; };
const auto up_to = [](std::int64_t x) { return testing::first_positions(x); };

// ------------------------------------------------------------------------------------------------
// map

TEST(Map, ForetellsItsBytesByTheUsersFunction) {
  const auto hint = [](std::int64_t x) { return 100 * x; };
  const auto op = ops::map(map_function(twice), {.parallelism = 1, .bytes_hint = hint});
  EXPECT_EQ(as_elementwise(op).bytes_hint(Element(std::int64_t{7})), 700u);
  EXPECT_EQ(as_elementwise(ops::map(map_function(twice), {.parallelism = 1})).bytes_hint(Element(std::int64_t{7})),
            std::nullopt);
}

TEST(Map, RefusesAHintForAnotherType) {
  const auto hint = [](const std::string& text) { return text.size(); };
  EXPECT_ERROR(range(3).map(twice, {.parallelism = 1, .bytes_hint = hint}), ErrorCode::invalid_argument,
               "map: bytes_hint must take the function's own input type");
}

TEST(Map, PutsTheResultInThePlaceOfItsElement) {
  auto slots = run(ops::map(map_function([](std::int64_t x) { return std::to_string(2 * x); }), {.parallelism = 1}),
                   std::vector<std::int64_t>{3, 4});
  EXPECT_EQ(slots[0].take<std::string>(), "6");
  EXPECT_EQ(slots[1].take<std::string>(), "8");
  EXPECT_EQ(slots[1].stamp.ordinal, 1);
}

TEST(Map, FailsOnlyTheElementWhoseCallThrows) {
  const auto fails_at_two = [](std::int64_t x) {
    if (x == 2) throw std::runtime_error("two");
    return x;
  };
  auto slots = run(ops::map(map_function(fails_at_two), {.parallelism = 1}), std::vector<std::int64_t>{1, 2, 3});
  EXPECT_TRUE(slots[0].is_element());
  EXPECT_EQ(slots[1].kind(), Slot::Kind::failed);
  EXPECT_EQ(testing::error_text(slots[1]), "two");
  EXPECT_EQ(slots[2].take<std::int64_t>(), 3);
}

TEST(Map, TellsItsFunctionWhichElementItHas) {
  const auto ordinal = [](std::int64_t, Context& context) { return context.ordinal(); };
  auto slots = run(ops::map(map_function(ordinal), {.parallelism = 1}), std::vector<std::int64_t>{7, 7});
  EXPECT_EQ(slots[1].take<std::int64_t>(), 1);
}

TEST(Map, KeepsTheCardinality) {
  const OpRef op = ops::map(map_function(twice), {});
  testing::expect_cardinalities(op, {{10, 10}, {0, 0}, {INF, INF}, {UNK, UNK}});
}

TEST(Map, KeepsTheLeadingDimensionOnlyIfItsAuthorSaysSo) {
  const Flow batches{.cardinality = 10, .leading_dimension = 7};
  EXPECT_EQ(ops::map(map_function(twice), {})->flow(batches).leading_dimension, UNK);
  testing::expect_keeps_leading_dimension(ops::map(map_function(twice), {.keeps_leading_dimension = true}));
}

// Has no room for anybody who can come again.
class Full final : public detail::ContextServices {
 public:
  std::string origin(const Stamp&) const override { return {}; }
  bool try_reserve(std::int64_t, bool may_refuse) override { return !may_refuse; }
};

template <class F> std::vector<Slot> run_without_memory(F function) {
  Full full;
  Context context({}, 0, &full);
  std::vector<Slot> slots = slots_of(std::vector<std::int64_t>{7});
  map_function(std::move(function))->run(slots, context);
  return slots;
}

TEST(Map, IsBrokenOffWhereMemoryIsShortUnlessItsFunctionHasChangedMeanwhile) {
  const auto stateless = [](const std::int64_t& x, Context& context) { return context.reserve(100), x; };
  EXPECT_THROW(run_without_memory(stateless), detail::RetryWhenMemoryIsFree);
  const auto counting = [calls = std::int64_t{0}](const std::int64_t&, Context& context) mutable {
    return ++calls, context.reserve(100), calls;
  };
  EXPECT_EQ(run_without_memory(counting)[0].take<std::int64_t>(), 1);
}

// ------------------------------------------------------------------------------------------------
// filter

TEST(Filter, DropsWhatItsPredicateDenies) {
  auto slots = run(ops::filter(predicate(is_even), {}), std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(slots[0].kind(), Slot::Kind::dropped);
  EXPECT_EQ(slots[1].take<std::int64_t>(), 2);
}

TEST(Filter, FailsTheElementWhosePredicateThrows) {
  const auto throws = [](std::int64_t) -> bool { throw std::runtime_error("undecided"); };
  auto slots = run(ops::filter(predicate(throws), {}), std::vector<std::int64_t>{1});
  EXPECT_EQ(testing::error_text(slots[0]), "undecided");
}

TEST(Filter, HasAnUnknownCardinalityEvenOfAnEndlessInput) {
  const OpRef op = ops::filter(predicate(is_even), {});
  testing::expect_cardinalities(op, {{10, UNK}, {0, UNK}, {INF, UNK}, {UNK, UNK}});
  testing::expect_keeps_leading_dimension(op);
}

// ------------------------------------------------------------------------------------------------
// flat_map

TEST(FlatMap, GivesTheElementsOfEachResult) {
  auto slots =
      run(ops::flat_map(many_function<std::int64_t>(up_to), {.parallelism = 1}), std::vector<std::int64_t>{3, 0});
  EXPECT_EQ(slots[0].kind(), Slot::Kind::many);
  EXPECT_THAT(integers(slots[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(integers(slots[1]), ElementsAre());
}

TEST(FlatMap, HasAnUnknownCardinality) {
  const OpRef op = ops::flat_map(many_function<std::int64_t>(up_to), {});
  testing::expect_cardinalities(op, {{10, UNK}, {INF, UNK}, {UNK, UNK}});
  EXPECT_EQ(testing::leading_dimension(op, {.cardinality = 10, .leading_dimension = 7}), UNK);
}

// ------------------------------------------------------------------------------------------------
// unbatch

TEST(Unbatch, GivesTheRowsOfEachElement) {
  using Rows = std::vector<std::int64_t>;
  auto slots = run(ops::unbatch(unbatch_function<Rows>()), std::vector<Rows>{{1, 2, 3}, {}, {4}});
  EXPECT_THAT(integers(slots[0]), ElementsAre(1, 2, 3));
  EXPECT_THAT(integers(slots[1]), ElementsAre());
  EXPECT_THAT(integers(slots[2]), ElementsAre(4));
}

TEST(Unbatch, FailsAnElementThatHasNoRows) {
  auto slots = run(ops::unbatch(unbatch_function<Tensor>()), std::vector<Tensor>{Tensor::scalar(3)});
  EXPECT_EQ(testing::error_text(slots[0]),
            "Input element must have a non-scalar value in each component. Give unbatch() tensors of rank 1 or more");
}

TEST(Unbatch, KnowsItsCardinalityWhereTheRowsAreKnown) {
  const OpRef op = ops::unbatch(unbatch_function<Tensor>());
  EXPECT_EQ(op->flow({.cardinality = 5, .leading_dimension = 2}).cardinality, 10);
  EXPECT_EQ(op->flow({.cardinality = 5, .leading_dimension = 0}).cardinality, 0);
  EXPECT_EQ(op->flow({.cardinality = INF, .leading_dimension = 2}).cardinality, INF);
  EXPECT_EQ(op->flow({.cardinality = UNK, .leading_dimension = 2}).cardinality, UNK);
  EXPECT_EQ(op->flow({.cardinality = INT64_MAX / 2, .leading_dimension = 3}).cardinality, UNK);
  testing::expect_cardinalities(op, {{5, UNK}, {0, 0}, {INF, INF}, {UNK, UNK}});
  EXPECT_EQ(testing::leading_dimension(op, {.cardinality = 5, .leading_dimension = 2}), UNK);
}

// ------------------------------------------------------------------------------------------------
// parallelism

TEST(FunctionOp, RefusesNamesThatWouldSpoilReports) {
  const auto named = [](const std::string& name) { return ops::map(map_function(twice), {.name = name}); };
  EXPECT_ERROR(named("a\nb"), ErrorCode::invalid_argument, "control characters");
  EXPECT_ERROR(named("a\x7f"), ErrorCode::invalid_argument, "control characters");
  EXPECT_ERROR(named("caf\xe9"), ErrorCode::invalid_argument, "name must be UTF-8");
  EXPECT_NO_THROW(named("caf\xc3\xa9"));
}

TEST(FunctionOp, RefusesAParallelismBelowOne) {
  const auto code = ErrorCode::invalid_argument;
  EXPECT_ERROR(ops::map(map_function(twice), {.parallelism = -4}), code, "parallelism must be at least 1, but is -4");
  EXPECT_ERROR(ops::map(map_function(twice), {.parallelism = 0}), code, "parallelism must be at least 1, but is 0");
  EXPECT_ERROR(ops::filter(predicate(is_even), {.parallelism = 0}), code, "parallelism must be at least 1, but is 0");
  EXPECT_ERROR(ops::flat_map(many_function<std::int64_t>(up_to), {.parallelism = Tunable::between(0, 4)}), code,
               "parallelism must be at least 1, but is 0");
  EXPECT_ERROR(ops::map(map_function(twice), {.parallelism = Tunable::between(4, 2)}), code,
               "upper bound of parallelism must be at least its lower bound 4, but is 2");
}

TEST(FunctionOp, CallsAFunctionThatChangesItselfByOneThreadOnly) {
  const auto counter = [n = std::int64_t{0}](std::int64_t) mutable { return n++; };
  const std::string text = "parallelism must be 1 for a function that is not callable as const, but is ";
  EXPECT_ERROR(ops::map(map_function(counter), {}), ErrorCode::invalid_argument, text + "auto");
  EXPECT_ERROR(ops::map(map_function(counter), {.parallelism = 2}), ErrorCode::invalid_argument, text + "2");
  EXPECT_ERROR(ops::map(map_function(counter), {.parallelism = Tunable::between(1, 3)}), ErrorCode::invalid_argument,
               text + "1..3");
  auto slots = run(ops::map(map_function(counter), {.parallelism = 1}), std::vector<std::int64_t>{7, 7});
  EXPECT_EQ(slots[1].take<std::int64_t>(), 1);
}

TEST(FunctionOp, LeavesItsFormOpenUnlessToldWhetherItBlocks) {
  const auto map = [](std::optional<bool> blocks) { return ops::map(map_function(twice), {.blocks = blocks}); };
  EXPECT_FALSE(as_elementwise(map(std::nullopt)).form_is_known());
  EXPECT_EQ(as_elementwise(map(std::nullopt)).form(), Form::computes);
  EXPECT_TRUE(as_elementwise(map(true)).form_is_known());
  EXPECT_EQ(as_elementwise(map(true)).form(), Form::blocks);
  EXPECT_TRUE(as_elementwise(map(false)).form_is_known());
  EXPECT_EQ(as_elementwise(map(false)).form(), Form::computes);
}

TEST(FunctionOp, TellsTheEngineItsParallelismAndOrder) {
  const OpRef op = ops::filter(predicate(is_even), {.parallelism = 3, .order = Order::arbitrary});
  EXPECT_EQ(as_elementwise(op).parallelism().high(), 3);
  EXPECT_FALSE(as_elementwise(op).parallelism().is_automatic());
  EXPECT_EQ(as_elementwise(op).order(), Order::arbitrary);
  EXPECT_EQ(as_elementwise(ops::map(map_function(twice), {})).order(), Order::kept);
}

TEST(FunctionOp, TakesFunctionsThatCannotBeCopied) {
  auto slots = run(ops::map(map_function([p = std::make_unique<std::int64_t>(5)](std::int64_t x) { return x + *p; }),
                            {.parallelism = 4}),
                   std::vector<std::int64_t>{1});
  EXPECT_EQ(slots[0].take<std::int64_t>(), 6);
}

}  // namespace
}  // namespace penstock
