// Functions and ops of a user's own that fail while the pipeline runs.
#include <penstock/ops.h>

#include <new>
#include <stdexcept>

#include "tests/errors/catalogue.h"

namespace penstock::errors {
namespace {

struct Mute : std::exception {
  const char* what() const noexcept override { return nullptr; }
};
struct Odd {};

[[noreturn]] void fail_nested() {
  try {
    throw Error(ErrorCode::unavailable, "the server is busy");
  } catch (...) {
    std::throw_with_nested(std::runtime_error("cannot load the boxes"));
  }
}

// An op of the given form that has none of its functions.
class Unwritten final : public ElementwiseOp {
 public:
  explicit Unwritten(Form form) : form_(form) {}
  std::string name() const override { return "unwritten"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return form_; }

 private:
  Form form_;
};

// Loses the completion of element 1.
class Forgetful final : public ElementwiseOp {
 public:
  std::string name() const override { return "forgetful"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  void start(Element value, Context&, Completion completion) const override {
    if (value.get<std::int64_t>() != 1) completion.complete(std::move(value));
  }
};

// Answers with nothing.
class Empties final : public ElementwiseOp {
 public:
  std::string name() const override { return "empties"; }
  Flow flow(const Flow& input) const override { return input; }
  void run(std::span<Slot> slots, Context&) const override {
    for (Slot& slot : slots) slot.emit(Element());
  }
};

struct Greedy {
  std::int64_t value = 0;
};

// Says that it has a state, and has none.
class Stateless final : public ElementwiseOp {
 public:
  std::string name() const override { return "stateless"; }
  Flow flow(const Flow& input) const override { return input; }
  bool has_state() const override { return true; }
};

class LateWithState final : public ElementwiseOp {
 public:
  std::string name() const override { return "late"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  bool has_state() const override { return true; }
};

// Opens nothing; where it is a source that is broken, it says why.
class ClosedStream final : public StreamOp {
 public:
  std::string name() const override { return "closed"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return nullptr; }
};
class ClosedSource final : public SourceOp {
 public:
  explicit ClosedSource(bool is_broken) : is_broken_(is_broken) {}
  std::string name() const override { return "closed"; }
  Flow flow(const Flow&) const override { return {}; }
  std::unique_ptr<SourceReader> open() const override {
    if (is_broken_) throw Error(ErrorCode::not_found, "no such queue");
    return nullptr;
  }

 private:
  bool is_broken_;
};

Dataset<std::int64_t> from_closed(bool is_broken) {
  return Dataset<std::int64_t>(graph::append(nullptr, std::make_shared<ClosedSource>(is_broken), CallSite::here()));
}

std::function<std::optional<std::int64_t>()> open_queue(Pass) {
  throw Error(ErrorCode::unavailable, "the queue is closed");
}

void lose_batch();
Cases thrown_cases() {
  return {
      {"a function throws a std::exception", in_map([] { throw std::runtime_error("the lid is shut"); })},
      {"a function throws a penstock::Error", in_map([] { throw Error(ErrorCode::not_found, "no box 7"); })},
      {"a function throws a nested exception", in_map(fail_nested)},
      {"a function throws an int", in_map([] { throw 42; })},
      {"a function throws a const char*", in_map([] { throw "no disk"; })},
      {"a function throws a type of its own", in_map([] { throw Odd(); })},
      {"a function throws an exception without a text", in_map([] { throw Mute(); })},
      {"a function runs out of memory", in_map([] { throw std::bad_alloc(); })},
  };
}

Dataset<std::int64_t> itself(std::int64_t) { return range(1).interleave(itself); }

Cases op_cases() {
  const auto odd = [](std::int64_t value) -> bool { return value == 1 ? throw std::runtime_error("odd") : true; };
  const auto many = [](std::int64_t value) -> std::vector<int> {
    return value == 1 ? throw std::runtime_error("many") : std::vector<int>();
  };
  const auto make = [i = 0]() mutable -> std::optional<int> {
    return i++ == 1 ? throw std::runtime_error("no line") : i < 4 ? std::optional(i) : std::nullopt;
  };
  return {
      {"a predicate throws", [=] { read(range(3).filter(odd)); }},
      {"a function of flat_map throws, behind another map",
       [=] { read(range(3).map([](std::int64_t x) { return x; }).flat_map(many)); }},
      {"an element of a dataset that a function of flat_map gives fails",
       [] {
         read(range(3).flat_map([](std::int64_t shard) {
           return range(3).map(
               [=](std::int64_t x) { return x == 1 && shard == 2 ? throw std::runtime_error("torn") : x; });
         }));
       }},
      {"a function of interleave throws, of a second element",
       [] {
         read(range(3).interleave([](std::int64_t x) { return x == 1 ? throw std::runtime_error("torn") : range(2); }));
       }},
      {"an element of a dataset that a function of interleave gives fails",
       [] {
         read(range(3).interleave(
             [](std::int64_t) {
               return range(3).map([](std::int64_t x) { return x == 1 ? throw std::runtime_error("torn") : x; },
                                   {.name = "check"});
             },
             {.name = "rows"}));
       }},
      {"a function of interleave gives what interleaves by that function", [] { read(range(1).interleave(itself)); }},
      {"a function of interleave gives a dataset that cannot be opened",
       [] { read(range(3).interleave([](std::int64_t) { return from_closed(true); })); }},
      {"a generator throws", [=] { read(from_generator(make)); }},
      {"a batch cannot be put together", lose_batch},
      {"an op does not have the function run()",
       [] { read(range(3).then(std::make_shared<Unwritten>(Form::computes))); }},
      {"an op does not have the function start()",
       [] { read(range(3).then(std::make_shared<Unwritten>(Form::completes_later))); }},
      {"an op with a state completes later", [] { read(range(3).then(std::make_shared<LateWithState>())); }},
      {"an op with a state does not open it", [] { read(range(3).then(std::make_shared<Stateless>())); }},
      {"a stream op opens nothing", [] { read(range(3).then(std::make_shared<ClosedStream>())); }},
      {"a source opens nothing", [] { read(from_closed(false)); }},
      {"a source cannot be opened", [] { read(from_closed(true)); }},
      {"a generator cannot begin its pass", [] { read(from_generator(open_queue)); }},
      {"an op loses a completion", [] { read(range(3).then(std::make_shared<Forgetful>())); }},
      {"a function asks for an output that it has not declared",
       [] {
         read(range(3).map([](std::int64_t, Context& context) { return context.outputs().slot(0, DType::u8, {1}); }));
       }},
      {"an op gives another type than then<U>() says", [] { read(range(3).then<std::string>(ops::take(2))); }},
      {"an op takes another type than the dataset has",
       [] {
         read(from_vector(std::vector<std::string>{"a", "b"}).then(std::make_shared<Forgetful>()));
       }},
      {"an op gives empty elements", [] { read(range(3).then(std::make_shared<Empties>())); }},
      {"an element that is empty is asked for", [] { Element().get<int>(); }},
      {"a function with a name throws",
       [] {
         read(range(3).map([](std::int64_t x) { return x == 1 ? throw std::runtime_error("torn") : x; },
                           {.name = "decode"}));
       }},
      {"a function draws from an empty interval",
       [] { read(range(3).map([](std::int64_t, Context& context) { return context.rng().uniform(5, 5); })); }},
  };
}

}  // namespace
}  // namespace penstock::errors

template <> struct penstock::Collate<penstock::errors::Greedy> {
  using Result = std::vector<int>;
  struct Builder {
    explicit Builder(std::size_t) {}
    void check(const errors::Greedy&) const {}
    void add(const errors::Greedy& row) {
      if (row.value == 1) throw std::runtime_error("no room in the table");
    }
    Result finish() { return {}; }
  };
};

namespace penstock::errors {
namespace {

void lose_batch() {
  read(range(3).map([](std::int64_t value) { return Greedy{value}; }).batch(3));
}

}  // namespace

Cases function_cases() {
  Cases all = thrown_cases();
  for (Case& each : op_cases()) all.push_back(std::move(each));
  return all;
}

}  // namespace penstock::errors
