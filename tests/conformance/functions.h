// What a user's functions in the suite do with tokens: what model/functions.cc says, unevenly and
// with planted failures where the feed and the op's description ask for them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tests/conformance/feed.h"

namespace conformance {

// What each call begins with. Throws where it is to fail.
inline void begin_call(const model::Op& op, const Feed& feed, std::int64_t number) {
  feed.be_uneven(number + 31);
  fail_if(op.fails, number);
}

template <class T>
std::vector<T> tokens_of(const std::vector<model::Value>& values, const CensusRef& census) {
  std::vector<T> tokens;
  for (const model::Value& value : values) tokens.emplace_back(value.number, census);
  return tokens;
}

template <class T>
auto mapped(const model::Op& op, const Feed& feed) {
  return [op, feed](T token) {
    begin_call(op, feed, token.number());
    const model::Value result = model::affine(model::number(token.number()), op.step, op.first);
    return T(result.number, feed.census);
  };
}

template <class T>
auto kept(const model::Op& op, const Feed& feed) {
  return [op, feed](const T& token) {
    begin_call(op, feed, token.number());
    return op.keeps.holds(model::number(token.number()));
  };
}

template <class T>
auto children(const model::Op& op, const Feed& feed) {
  return [op, feed](T token) {
    begin_call(op, feed, token.number());
    return tokens_of<T>(model::children(op, model::number(token.number())), feed.census);
  };
}

template <class T>
ps::Dataset<T> dataset_of(std::int64_t first, std::int64_t count, const CensusRef& census) {
  return ps::from_generator([=](ps::Pass) {
    return [=, i = std::int64_t{0}]() mutable -> std::optional<T> {
      if (i == count) return std::nullopt;
      return T(first + i++, census);
    };
  });
}

// The children as a dataset of their own. They must count up from the first one.
template <class T>
auto children_dataset(const model::Op& op, const Feed& feed) {
  return [op, feed](T token) {
    begin_call(op, feed, token.number());
    const auto values = model::children(op, model::number(token.number()));
    const std::int64_t first = values.empty() ? 0 : values.front().number;
    return dataset_of<T>(first, static_cast<std::int64_t>(values.size()), feed.census);
  };
}

// Makes the source's tokens one after the other.
template <class T>
auto made(const model::Op& op, const Feed& feed) {
  return [op, feed](ps::Pass) {
    return [op, feed, i = std::int64_t{0}]() mutable -> std::optional<T> {
      if (i == feed.count) return std::nullopt;
      const std::int64_t number = i++;
      begin_call(op, feed, number);
      return T(number, feed.census);
    };
  };
}

}  // namespace conformance
