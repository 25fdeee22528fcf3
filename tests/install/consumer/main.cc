// A user's program: it sees penstock's public headers and package and its own plugin, nothing else. It prints "passed",
// or what is wrong.
#include "plugin.h"

#include <penstock/imagenet.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace ps = penstock;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::cout << "wrong: " << what << '\n';
  ++failures;
}

// What next() threw at this place; null for an element or the end.
template <class T> std::exception_ptr thrown_by(ps::Run<T>& run) {
  try {
    run.next();
  } catch (const ps::ElementError& error) {
    return error.cause();
  }
  return nullptr;
}

template <class Exception> bool is(const std::exception_ptr& error) {
  if (!error) return false;
  try {
    std::rethrow_exception(error);
  } catch (const Exception&) {
    return true;
  } catch (...) {
    return false;
  }
}

void values_and_order() {
  std::string printed;
  for (auto value : ps::range(10).map([](std::int64_t v) { return 2 * v; })) printed += std::to_string(value) + ' ';
  expect(printed == "0 2 4 6 8 10 12 14 16 18 ", "values and order of a map");
}

// Made by the plugin, changed by its op, mapped and taken here; errors in their places.
void elements_and_errors_from_the_plugin() {
  auto run = plugin::readings(5)
                 .then(plugin::doubled())
                 .map([](plugin::Reading reading) { return reading; }, ps::AUTOTUNE, plugin::options())
                 .start();
  expect(run.next().value().sensor == "0", "the first element");
  expect(run.next().value().values == std::vector<double>{1.0}, "the second element");
  expect(is<plugin::Broken>(thrown_by(run)), "the plugin's own exception as the cause of an ElementError");
  const auto lost = thrown_by(run);
  expect(is<ps::Error>(lost) && ps::code_of(lost) == ps::ErrorCode::data_loss,
         "an Error thrown by the plugin, and its code");
  expect(run.next().value().values.size() == 4, "the element behind the errors");
  expect(!run.next(), "the end");
}

void graph_errors() {
  try {
    plugin::build_a_wrong_graph();
    expect(false, "a wrong graph throws");
  } catch (const ps::GraphError& error) {
    expect(error.code() == ps::ErrorCode::invalid_argument, "the code of a GraphError");
  }
  const auto wrong_hint = plugin::options();
  try {
    ps::range(3).map([](std::int64_t v) { return v; }, ps::AUTOTUNE, wrong_hint);
    expect(false, "the plugin's hint is for another type");
  } catch (const ps::Error&) {
  }
}

// The library tells the kinds of ops apart by their base classes.
class AddsIndex final : public ps::StreamOp {
 public:
  std::string name() const override { return "adds_index"; }
  ps::Flow flow(const ps::Flow& input) const override { return input; }
  std::unique_ptr<ps::StreamState> open(std::uint64_t) const override {
    struct State final : ps::StreamState {
      std::int64_t index = 0;
      void element(ps::Slot&& slot, ps::Emitter& out) override {
        const auto value = slot.take<std::int64_t>();
        out.emit(ps::Element(value + index++), slot.stamp);
      }
    };
    return std::make_unique<State>();
  }
};

class CompletesLater final : public ps::ElementwiseOp {
 public:
  std::string name() const override { return "completes_later"; }
  ps::Flow flow(const ps::Flow& input) const override { return input; }
  ps::Form form() const override { return ps::Form::completes_later; }
  void start(ps::Element value, ps::Context&, ps::Completion completion) const override {
    completion.complete(ps::Element(value.get<std::int64_t>() + 1));
  }
};

void ops_of_the_program() {
  std::int64_t sum = 0;
  for (auto value : ps::range(4).then(std::make_shared<AddsIndex>()).then(std::make_shared<CompletesLater>()))
    sum += value;
  expect(sum == (0 + 2 + 4 + 6) + 4, "ops of the program's own");
}

void pictures() {
  try {
    ps::imagenet::list_images("no such folder");
    expect(false, "a folder that is not there");
  } catch (const ps::Error& error) {
    expect(error.code() == ps::ErrorCode::not_found, "the code of a missing folder");
  }
}

}  // namespace

int main() {
  values_and_order();
  elements_and_errors_from_the_plugin();
  graph_errors();
  ops_of_the_program();
  pictures();
  if (failures == 0) std::cout << "passed\n";
  return failures == 0 ? 0 : 1;
}
