// Case: one line of the suite, an op with what it means. Those of the library's ops are made of their cases,
// tests/ops/NAME_case.h; op() makes others:
//
//   op("own_stream, flawed", {{.kind = Kind::own_stream, .count = 3}}, {},
//      []<class T>(In<T> in, const Op& op, const Feed& feed) { return in.template then<T>(...); })
//
// The description tells the list model what the op does; the lambda tells the library. `op` is the
// description's last entry, with what a check adds to it. What T is says the harness: a copyable
// token, or one that can only be moved.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/conformance/feed.h"
#include "tests/model/list_model.h"

namespace conformance {

using model::Kind;
using model::Op;
template <class T> using In = const ps::Dataset<T>&;

// Where the op stands.
enum class Place : std::uint8_t {
  source,     // it is one
  positions,  // right behind a source that can be indexed
  stream,     // behind something that computes
  merge,      // behind two branches, each as `stream` has one
};

// What is peculiar to an op, apart from what it means.
struct Traits {
  Place place = Place::stream;
  bool calls_function = false;     // a user's, which can fail
  bool drops_errors = false;       // and counts them
  bool holds_unknown = false;      // elements: elements_held() says the least
  std::int64_t bytes_beside = 0;   // most that it holds beside elements and their places
  std::int64_t least_count = 0;    // a source that refuses shorter lists
  std::string only_copyable = {};  // why it cannot carry move-only payloads
  // Most that an element holds, or that is reserved for it, and for how many of the last ops that is so. Those before
  // have tokens.
  std::size_t element_bytes = kTokenBytes;
  std::size_t large_ops = 1;
};

// A dataset of any type.
struct Built {
  ps::graph::NodeRef node;
  std::string (*text)(const ps::Element&);
  std::size_t (*results)(const ps::Element&) = [](const ps::Element&) -> std::size_t { return 1; };  // in one element
};

// What comes of two branches that have given so much: of `count` slots each, there is no more.
using Branches = std::vector<std::vector<model::Item>>;
using MergeMeaning = std::function<std::vector<model::Item>(const Branches& branches, std::size_t count)>;

struct Case {
  std::string name;     // "shuffle, over positions": an op's name, then what is special
  std::vector<Op> ops;  // without the harness's source
  Traits traits;
  std::function<Built(const std::vector<Op>&, const Feed&)> build;
  std::function<Built(const std::vector<Op>&, const Feed&)> build_move_only;  // null: see traits
  MergeMeaning merged = nullptr;                // of a merge; others are told by the list model
  std::function<void()> tell_progress = [] {};  // called at each beginning: nothing hangs so far

  std::string op_name() const { return name.substr(0, name.find(',')); }
  bool is_arbitrary() const { return ops.back().arbitrary; }
};

template <class T> Built built(const ps::Dataset<T>& dataset) {
  return {dataset.node(), [](const ps::Element& element) { return text_of(element.get<T>()); }};
}

// What the op stands behind.
template <class T> ps::Dataset<T> input_of(Place place, const Feed& feed) {
  const ps::CallSite site = ps::CallSite::here();
  const auto source = ps::graph::append(nullptr, std::make_shared<TokenSource<T>>(feed), site);
  if (place == Place::positions) return ps::Dataset<T>(source);
  return ps::Dataset<T>(ps::graph::append(source, std::make_shared<Step>(feed), site));
}

template <class Add> Case op(std::string name, std::vector<Op> ops, Traits traits, Add add) {
  const Place place = traits.place;
  const auto build_of = [place, add]<class T>(std::type_identity<T>) {
    return [place, add](const std::vector<Op>& described, const Feed& feed) {
      return built(add(input_of<T>(place, feed), described.back(), feed));
    };
  };
  return {std::move(name), std::move(ops), std::move(traits), build_of(std::type_identity<Token>{}),
          build_of(std::type_identity<MoveOnlyToken>{})};
}

}  // namespace conformance
