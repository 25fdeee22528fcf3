// Functions of a user's own that throw whatever C++ lets them throw, or do to runs what they should not.
#include <penstock/penstock.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "tests/engine/support.h"
#include "tests/hostile/observe.h"

namespace penstock::hostile {
namespace {

using namespace std::chrono_literals;

struct Odd {};
struct Mute : std::exception {
  const char* what() const noexcept override { return nullptr; }
};
struct Endless : std::exception {
  const char* what() const noexcept override { return text.c_str(); }
  std::string text = std::string(1 << 20, 'x');
};
// Throwing one that has a name copies it, and what the copy throws is what is thrown.
struct CannotBeCopied : std::runtime_error {
  CannotBeCopied() : std::runtime_error("the original") {}
  CannotBeCopied(const CannotBeCopied& other) : std::runtime_error(other) {
    throw std::logic_error("thrown by a copy");
  }
};
struct NothingNested : std::runtime_error, std::nested_exception {
  NothingNested() : std::runtime_error("nothing in it") {}
};

[[noreturn]] void throw_nested(int depth) {
  try {
    if (depth == 0) throw Error(ErrorCode::unavailable, "the disk is away");
    throw_nested(depth - 1);
  } catch (...) {
    std::throw_with_nested(std::runtime_error("level " + std::to_string(depth)));
  }
}

[[noreturn]] void throw_lvalue() {
  const CannotBeCopied error;
  throw error;
}

struct Thrown {
  const char* name;
  void (*call)();
  ErrorCode code;
  const char* says;
};

const Thrown thrown[] = {
    {"an int", [] { throw 42; }, ErrorCode::internal, "of type int: 42"},
    {"a const char*", [] { throw "no disk"; }, ErrorCode::internal, "of type char const*: 'no disk'"},
    {"a null const char*", [] { throw static_cast<const char*>(nullptr); }, ErrorCode::internal, "char const*: ''"},
    {"a std::string", [] { throw std::string("no disk"); }, ErrorCode::internal, ": 'no disk'"},
    {"a null pointer", [] { throw nullptr; }, ErrorCode::internal, "nullptr"},
    {"a type of its own", [] { throw Odd(); }, ErrorCode::internal, "Odd"},
    {"an exception_ptr", [] { throw std::make_exception_ptr(1); }, ErrorCode::internal, "exception_ptr"},
    {"an exception without a text", [] { throw Mute(); }, ErrorCode::internal, "Mute without a text"},
    {"an exception with a megabyte of text", [] { throw Endless(); }, ErrorCode::internal, "xxxx"},
    {"an exception that cannot be copied", throw_lvalue, ErrorCode::internal, "thrown by a copy"},
    {"nested exceptions", [] { throw_nested(2); }, ErrorCode::internal, "level 2: level 1: level 0: the disk is away"},
    {"1,000 nested exceptions", [] { throw_nested(1000); }, ErrorCode::internal, "level 1000: level 999"},
    {"a nested exception with nothing in it", [] { throw NothingNested(); }, ErrorCode::internal, "nothing in it"},
    {"bad_alloc", [] { throw std::bad_alloc(); }, ErrorCode::resource_exhausted, "out of memory"},
    {"invalid_argument", [] { throw std::invalid_argument("odd"); }, ErrorCode::invalid_argument, "odd"},
    {"ENOSPC", [] { throw std::system_error(ENOSPC, std::generic_category(), "write"); }, ErrorCode::resource_exhausted,
     "No space left"},
    {"a penstock::Error", [] { throw Error(ErrorCode::deadline, "late"); }, ErrorCode::deadline, "late"},
    {"a GraphError", [] { throw GraphError("not here"); }, ErrorCode::invalid_argument, "not here"},
};

// Has element 1 of three call something, in one place of a pipeline.
using Call = std::function<void()>;
struct Where {
  const char* mode;
  Dataset<std::int64_t> (*build)(const Call& call);
};

std::int64_t call_at_one(std::int64_t value, const Call& call) {
  if (value == 1) call();
  return value;
}

Dataset<std::int64_t> in_generator(const Call& call) {
  return from_generator([call, next = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (next == 3) return std::nullopt;
    return call_at_one(next++, call);
  });
}

// A merging op of a user's own, which hands everything on.
class CallingMerge final : public MergeOp {
 public:
  explicit CallingMerge(Call call) : call_(std::move(call)) {}
  std::string name() const override { return "calling_merge"; }
  Flow flow_of(std::span<const Flow> inputs) const override { return inputs.front(); }
  std::unique_ptr<MergeState> open(std::size_t) const override { return std::make_unique<State>(call_); }

 private:
  class State final : public MergeState {
   public:
    explicit State(const Call& call) : call_(call) {}
    void begin_pass(const Stamp&) override { has_ended_ = false; }
    Want want() const override { return has_ended_ ? Want::nothing() : Want::one(0); }
    void take(std::size_t, Slot&& slot, Emitter& out) override {
      if (slot.is_element()) call_at_one(slot.value.get<std::int64_t>(), call_);
      out.forward(std::move(slot));
    }
    void ended(std::size_t, Emitter&) override { has_ended_ = true; }

   private:
    const Call& call_;  // of the op, which lives longer
    bool has_ended_ = false;
  };

  Call call_;
};

const Where places[] = {
    {"map", [](const Call& call) { return range(3).map([call](std::int64_t x) { return call_at_one(x, call); }); }},
    {"blocking map",
     [](const Call& call) {
       return range(3).map([call](std::int64_t x) { return call_at_one(x, call); }, AUTOTUNE, {.blocks = true});
     }},
    {"filter",
     [](const Call& call) { return range(3).filter([call](std::int64_t x) { return call_at_one(x, call) >= 0; }); }},
    {"flat_map",
     [](const Call& call) {
       return range(3).flat_map([call](std::int64_t x) { return std::vector{call_at_one(x, call)}; });
     }},
    {"generator", in_generator},
    {"merge",
     [](const Call& call) { return merge<std::int64_t>(std::make_shared<CallingMerge>(call), range(3).prefetch()); }},
};

using Values = std::vector<std::int64_t>;
using IntegerRun = Run<std::int64_t>;

Values rest_of(IntegerRun& run) {
  Values values;
  while (auto value = run.next()) values.push_back(*value);
  return values;
}

// Elements 0 and 2 must come, serially and on threads.
std::string skip(const Dataset<std::int64_t>& data) {
  std::string counted;
  for (const bool serial : {true, false}) {
    auto run = data.start({.on_error = skip_all(), .serial = serial});
    const bool all = rest_of(run) == Values{0, 2};
    counted = (all ? "" : "neighbours lost, ") + std::string("skipped ") + std::to_string(run.stats().skipped);
  }
  return counted;
}

Outcome observe(const Dataset<std::int64_t>& data) {
  auto run = data.start();
  try {
    while (run.next()) {
    }
  } catch (const ElementError& error) {
    return {std::string(to_string(error.code())), skip(data), error.what()};
  }
  return {"delivered", skip(data), ""};
}

// The consumer stops waiting, and gets everything as soon as the function returns.
Outcome never_return(const Where& where) {
  std::atomic<bool> may_return{false};
  auto run = where
                 .build([&] {
                   while (!may_return) std::this_thread::sleep_for(1ms);
                 })
                 .start();
  const bool first = run.next() == 0;
  const bool timed_out = run.next_for(50ms).timed_out();
  may_return = true;
  const bool all = first && rest_of(run) == Values{1, 2};
  return {timed_out ? "next_for() times out" : "next_for() answers",
          all ? "delivered 3 when it returns" : "elements lost", ""};
}

std::string skip_own(const Where& where, bool serial) {
  std::optional<IntegerRun> run;
  const auto data = where.build([&run] { run->next(); });
  run.emplace(data.start({.on_error = skip_all(), .serial = serial}));
  const bool all = rest_of(*run) == Values{0, 2};
  return (all ? "" : "neighbours lost, ") + std::string("skipped ") + std::to_string(run->stats().skipped);
}

Outcome call_own_next(const Where& where) {
  const std::string counted = skip_own(where, false), serially = skip_own(where, true);
  std::optional<IntegerRun> run;
  const auto data = where.build([&run] { run->next(); });
  run.emplace(data.start());
  try {
    rest_of(*run);
  } catch (const ElementError& error) {
    return {std::string(to_string(error.code())), counted == serially ? counted : counted + ", serially " + serially,
            error.what()};
  }
  return {"delivered", counted, ""};
}

// On threads and serially; its elements are its own.
Outcome call_next_of_another(const Where& where) {
  bool all = true;
  for (const bool serial : {false, true}) {
    std::atomic<std::int64_t> sum{0};
    const auto inner = range(100).map([](std::int64_t x) { return 2 * x; }, 4);
    auto run = where
                   .build([&sum, inner] {
                     for (std::int64_t x : inner) sum += x;
                   })
                   .start({.threads = 2, .serial = serial});
    all = all && rest_of(run) == Values{0, 1, 2} && sum == 9900;
  }
  return {"delivered", all ? "delivered 3" : "elements lost", ""};
}

// Each run that the function starts calls the function, which starts the next one.
Outcome iterate_own_dataset(const Where& where) {
  std::optional<Dataset<std::int64_t>> data;
  data.emplace(where.build([&data] {
    for (std::int64_t x : *data) static_cast<void>(x);
  }));
  return observe(*data);
}

// What a function owns that is to end its own run, and what that owner's end shows.
struct Owner {
  std::optional<IntegerRun> run;
  std::atomic<bool> may_end{false}, ended{false};

  void end_run() {
    while (!may_end) std::this_thread::sleep_for(1ms);
    run.reset();
    ended = true;
  }
};

// In a serial run, from inside next() of the run that it ends.
bool destroy_serial_owner(const Where& where) {
  const auto owner = std::make_shared<Owner>();
  owner->may_end = true;
  const std::weak_ptr<Owner> caller = owner;
  owner->run.emplace(where.build([caller] { caller.lock()->end_run(); }).start({.serial = true}));
  return owner->run->next() == 0 && owner->run->next() == 1 && owner->ended;
}

// Nobody but the function owns the run. prefetch: element 1 is asked for without a consumer.
Outcome destroy_owner(const Where& where) {
  auto owner = std::make_shared<Owner>();
  owner->run.emplace(where.build([owner] { owner->end_run(); }).prefetch(3).start());
  const bool first = owner->run->next() == 0;
  const std::weak_ptr<Owner> left = owner;
  owner->may_end = true;
  const bool ended = testing::eventually([&] { return owner->ended.load(); });
  owner.reset();
  const bool gone = testing::eventually([&] { return left.expired(); });
  return {ended && destroy_serial_owner(where) ? "the call ends" : "the call hangs",
          first && gone ? "delivered 1, nothing is left" : "something is left", ""};
}

struct Misdeed {
  const char* name;
  Outcome (*observe)(const Where& where);
  Outcome expected;
};

const Misdeed misdeeds[] = {
    {"never returns", never_return, {"next_for() times out", "delivered 3 when it returns", ""}},
    {"calls next() of its own dataset", call_own_next, {"failed_precondition", "skipped 1", "next()"}},
    {"calls next() of another dataset", call_next_of_another, {"delivered", "delivered 3", ""}},
    {"iterates its own dataset", iterate_own_dataset, {"failed_precondition", "skipped 1", "64 deep"}},
    {"destroys the owner", destroy_owner, {"the call ends", "delivered 1, nothing is left", ""}},
};

}  // namespace

std::vector<Row> function_rows() {
  std::vector<Row> rows;
  for (const Where& where : places)
    for (const Thrown& each : thrown)
      rows.push_back({"Functions that throw",
                      each.name,
                      where.mode,
                      {std::string(to_string(each.code)), "skipped 1", each.says},
                      observe(where.build(each.call))});
  for (const Misdeed& each : misdeeds)
    for (const Where& where : places)
      rows.push_back({"Functions that meddle with runs", each.name, where.mode, each.expected, each.observe(where)});
  return rows;
}

}  // namespace penstock::hostile
