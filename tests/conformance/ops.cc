// Every op of the library, and a user's own of each kind: one line each. Those of ops/imagenet are in image_ops.cc.
#include "tests/conformance/ops.h"

#include <fstream>
#include <memory>

#include "tests/conformance/flawed_ops.h"
#include "tests/conformance/functions.h"
#include "tests/conformance/image_ops.h"
#include "tests/conformance/own_ops.h"

namespace conformance {
namespace {

const ps::MapOptions kArbitrary{.order = ps::Order::arbitrary};
constexpr auto kPositions = Place::positions;
const Traits kCallsFunction{.calls_function = true};
const Traits kOverPositions{.place = kPositions};

ps::Dataset<Token> tokens_in_vector(const Feed& feed) {
  std::vector<Token> tokens;
  for (std::int64_t i = 0; i < feed.count; ++i) tokens.emplace_back(i, feed.census);
  return ps::from_vector(std::move(tokens));
}

// A source of a user's own.
struct TokenTable {
  std::int64_t count;
  CensusRef census;
  std::int64_t size() const { return count; }
  Token at(std::int64_t index) const { return {index, census}; }
};

ps::Dataset<std::string> lines_of_file(const Feed& feed) {
  const std::string list = feed.folder + "/list.txt";
  std::ofstream stream(list);
  for (std::int64_t i = 0; i < feed.count; ++i) stream << "images/" << i << ".jpg\n";
  stream.close();
  return ps::from_file_list(list);
}

template <template <class> class OwnOp, class T>
ps::Dataset<T> own(In<T> in, const Op& op, const Feed& feed) {
  return in.template then<T>(std::make_shared<OwnOp<T>>(op, feed));
}

// clang-format off
std::vector<Case> sources() {
  return {
    source("range", {.kind = Kind::range}, {.only_copyable = "gives integers"},
       [](auto, const Op&, const Feed& feed) { return ps::range(feed.count); }),
    source("from_vector", {.kind = Kind::from_vector}, {.only_copyable = "gives copies"},
       [](auto, const Op&, const Feed& feed) { return tokens_in_vector(feed); }),
    source("from_indexed", {.kind = Kind::from_vector}, {.only_copyable = "gives copies"},
       [](auto, const Op&, const Feed& feed) { return ps::from_indexed(TokenTable{feed.count, feed.census}); }),
    source("from_file_list", {.kind = Kind::from_file_list}, {.least_count = 1, .only_copyable = "gives strings"},
       [](auto, const Op&, const Feed& feed) { return lines_of_file(feed); }),
    source("from_generator", {.kind = Kind::from_generator}, kCallsFunction,
       []<class T>(std::type_identity<T>, const Op& op, const Feed& feed) { return ps::from_generator(made<T>(op, feed)); }),
  };
}

// Ops that choose, order and collect what comes.
std::vector<Case> stream_ops() {
  return {
    op("shard", {{.kind = Kind::shard, .count = 3, .index = 1}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.shard(op.count, op.index); }),
    op("shard, over positions", {{.kind = Kind::shard, .count = 3, .index = 1}}, kOverPositions,
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.shard(op.count, op.index); }),
    op("shuffle", {{.kind = Kind::shuffle, .count = 4}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.shuffle(op.count, {.seed = 7}); }),
    op("shuffle, a window over positions", {{.kind = Kind::shuffle, .count = 4}}, kOverPositions,
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.shuffle(op.count, {.seed = 7}); }),
    op("shuffle, all positions", {{.kind = Kind::shuffle, .count = 100}}, kOverPositions,
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.shuffle(op.count, {.seed = 7}); }),
    op("repeat", {{.kind = Kind::repeat, .count = 3}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.repeat(op.count); }),
    op("repeat, without end", {{.kind = Kind::repeat, .count = -1}, {.kind = Kind::take, .count = 25}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.repeat().take(op.count); }),
    op("take", {{.kind = Kind::take, .count = 5}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.take(op.count); }),
    op("take, over positions", {{.kind = Kind::take, .count = 5}}, kOverPositions,
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.take(op.count); }),
    op("skip", {{.kind = Kind::skip, .count = 3}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.skip(op.count); }),
    op("skip, over positions", {{.kind = Kind::skip, .count = 3}}, kOverPositions,
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.skip(op.count); }),
    op("batch", {{.kind = Kind::batch, .count = 4}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.batch(op.count); }),
    op("batch, drop_remainder", {{.kind = Kind::batch, .count = 4, .drop_remainder = true}}, {},
       []<class T>(In<T> in, const Op& op, const Feed&) { return in.batch(op.count, {.drop_remainder = true}); }),
    op("prefetch", {{.kind = Kind::prefetch}}, {},
       []<class T>(In<T> in, const Op&, const Feed&) { return in.prefetch(3); }),
    op("ignore_errors", {{.kind = Kind::ignore_errors}}, {.drops_errors = true},
       []<class T>(In<T> in, const Op&, const Feed&) { return in.ignore_errors(); }),
  };
}

std::vector<Case> elementwise_ops() {
  return {
    op("map", {{.kind = Kind::map, .first = 3, .step = 2}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return in.map(mapped<T>(op, feed)); }),
    op("map, blocks", {{.kind = Kind::map, .first = 3, .step = 2}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return in.map(mapped<T>(op, feed), 4, {.blocks = true}); }),
    op("map, order arbitrary", {{.kind = Kind::map, .first = 3, .step = 2, .arbitrary = true}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return in.map(mapped<T>(op, feed), 4, kArbitrary); }),
    op("filter", {{.kind = Kind::filter, .keeps = {3, 1}}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return in.filter(kept<T>(op, feed)); }),
    op("flat_map", {{.kind = Kind::flat_map, .step = 3}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return in.flat_map(children<T>(op, feed)); }),
    op("flat_map, to a dataset", {{.kind = Kind::flat_map, .step = 3}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return in.flat_map(children_dataset<T>(op, feed)); }),
    op("unbatch", {{.kind = Kind::batch, .count = 2}, {.kind = Kind::unbatch}}, {},
       []<class T>(In<T> in, const Op&, const Feed&) { return in.batch(2).unbatch(); }),
  };
}

std::vector<Case> own_ops() {
  return {
    op("own_elementwise", {{.kind = Kind::own_elementwise}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return own<OwnElementwise>(in, op, feed); }),
    op("own_async", {{.kind = Kind::own_async}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return own<OwnAsync>(in, op, feed); }),
    op("own_async, some answers lost", {{.kind = Kind::own_async, .loses = {4, 2}}}, kCallsFunction,
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return own<OwnAsync>(in, op, feed); }),
    op("own_stream", {{.kind = Kind::own_stream, .count = 3}}, {},
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return own<OwnStream>(in, op, feed); }),
    op("own_stream, ends its pass", {{.kind = Kind::own_stream, .count = 2, .index = 2}}, {},
       []<class T>(In<T> in, const Op& op, const Feed& feed) { return own<OwnStream>(in, op, feed); }),
  };
}
// clang-format on

}  // namespace

std::vector<Case> all_ops() {
  std::vector<Case> all;
  for (const auto& some : {sources(), stream_ops(), elementwise_ops(), image_ops(), own_ops()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace conformance
