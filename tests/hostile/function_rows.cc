// Functions of a user's own that throw whatever C++ lets them throw.
#include <penstock/penstock.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "tests/hostile/observe.h"

namespace penstock::hostile {
namespace {

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
    {"a const char*", [] { throw "no disk"; }, ErrorCode::internal,
     "of type char const*: 'no disk'"},
    {"a null const char*", [] { throw static_cast<const char*>(nullptr); }, ErrorCode::internal,
     "char const*: ''"},
    {"a std::string", [] { throw std::string("no disk"); }, ErrorCode::internal, ": 'no disk'"},
    {"a null pointer", [] { throw nullptr; }, ErrorCode::internal, "nullptr"},
    {"a type of its own", [] { throw Odd(); }, ErrorCode::internal, "Odd"},
    {"an exception_ptr", [] { throw std::make_exception_ptr(1); }, ErrorCode::internal,
     "exception_ptr"},
    {"an exception without a text", [] { throw Mute(); }, ErrorCode::internal,
     "Mute without a text"},
    {"an exception with a megabyte of text", [] { throw Endless(); }, ErrorCode::internal, "xxxx"},
    {"an exception that cannot be copied", throw_lvalue, ErrorCode::internal, "thrown by a copy"},
    {"nested exceptions", [] { throw_nested(2); }, ErrorCode::internal,
     "level 2: level 1: level 0: the disk is away"},
    {"1,000 nested exceptions", [] { throw_nested(1000); }, ErrorCode::internal,
     "level 1000: level 999"},
    {"a nested exception with nothing in it", [] { throw NothingNested(); }, ErrorCode::internal,
     "nothing in it"},
    {"bad_alloc", [] { throw std::bad_alloc(); }, ErrorCode::resource_exhausted, "out of memory"},
    {"invalid_argument", [] { throw std::invalid_argument("odd"); }, ErrorCode::invalid_argument,
     "odd"},
    {"ENOSPC", [] { throw std::system_error(ENOSPC, std::generic_category(), "write"); },
     ErrorCode::resource_exhausted, "No space left"},
    {"a penstock::Error", [] { throw Error(ErrorCode::deadline, "late"); }, ErrorCode::deadline,
     "late"},
    {"a GraphError", [] { throw GraphError("not here"); }, ErrorCode::invalid_argument, "not here"},
};

// Fails element 1 of three, in one place of a pipeline.
struct Where {
  const char* mode;
  Dataset<std::int64_t> (*build)(void (*call)());
};

std::int64_t fail_at_one(std::int64_t value, void (*call)()) {
  if (value == 1) call();
  return value;
}

Dataset<std::int64_t> in_generator(void (*call)()) {
  return from_generator([call, next = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (next == 3) return std::nullopt;
    return fail_at_one(next++, call);
  });
}

const Where places[] = {
    {"map",
     [](void (*call)()) {
       return range(3).map([call](std::int64_t x) { return fail_at_one(x, call); });
     }},
    {"blocking map",
     [](void (*call)()) {
       return range(3).map([call](std::int64_t x) { return fail_at_one(x, call); }, AUTOTUNE,
                           {.blocks = true});
     }},
    {"filter",
     [](void (*call)()) {
       return range(3).filter([call](std::int64_t x) { return fail_at_one(x, call) >= 0; });
     }},
    {"flat_map",
     [](void (*call)()) {
       return range(3).flat_map(
           [call](std::int64_t x) { return std::vector{fail_at_one(x, call)}; });
     }},
    {"generator", in_generator},
};

// Elements 0 and 2 must come, serially and on threads.
std::string skip(const Dataset<std::int64_t>& data) {
  std::string counted;
  for (const bool serial : {true, false}) {
    auto run = data.start({.on_error = skip_all(), .serial = serial});
    std::vector<std::int64_t> values;
    while (auto value = run.next()) values.push_back(*value);
    const bool all = values == std::vector<std::int64_t>{0, 2};
    counted = (all ? "" : "neighbours lost, ") + std::string("skipped ") +
              std::to_string(run.stats().skipped);
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
  return rows;
}

}  // namespace penstock::hostile
