// Running a dataset inside a call of another run; see results_of.
#include <penstock/detail/inner_dataset.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <penstock/error.h>
#include <penstock/run.h>

#include "lib/core/byte_count.h"

namespace penstock::detail {
namespace {

constexpr std::int64_t kCountedBytes = 64 * 1024;  // a list that holds less is counted when it is done
constexpr std::int64_t kLeastBudget = 1024 * 1024;
constexpr int kMostErrorsInARow = 10'000;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::resource_exhausted,
              "flat_map collects all elements of an inner dataset before the first one leaves, but " + why +
                  ". Put a take() behind the inner dataset, give it less to read, or raise RunOptions::memory_bytes");
}

std::string within(std::int64_t budget) { return "the run's memory budget of " + std::to_string(budget) + " bytes"; }

// What can be told before anything is read.
void check_size(std::int64_t cardinality, std::int64_t budget) {
  if (cardinality == INFINITE_CARDINALITY) refuse("this one never ends");
  if (cardinality > budget / static_cast<std::int64_t>(sizeof(Element)))
    refuse("the " + std::to_string(cardinality) + " of this one exceed " + within(budget));
}

// A budget in which nothing has room is obeyed as everywhere: one element goes on all the same, and here a short list
// of them.
std::int64_t budget_of(const Context& context) { return std::max(context.memory_budget(), kLeastBudget); }

// An error of the inner run among its elements.
struct InnerError {
  std::exception_ptr error;
};
// About what an ElementError takes with its texts and its cause.
std::size_t bytes_of(const InnerError&) { return 1024; }

// A source that always throws never ends, and a serial run has no budget to end it at.
[[noreturn]] void refuse_errors(const std::exception_ptr& last) {
  throw Error(code_of(last),
              "flat_map ended its inner dataset after " + std::to_string(kMostErrorsInARow) +
                  " errors in a row, for it may give nothing else for ever. The last one: " + message_of(last));
}

class ResultsWithErrors final : public Results {
 public:
  explicit ResultsWithErrors(std::vector<Element> elements) noexcept : list_(std::move(elements)) {}
  std::size_t size() const noexcept override { return list_.size(); }
  Element take(std::size_t i) override {
    Element element = list_.take(i);
    if (element.holds<InnerError>()) std::rethrow_exception(element.get<InnerError>().error);
    return element;
  }
  std::size_t bytes() const override { return list_.bytes(); }
  std::size_t bytes_of_list() const noexcept override { return list_.bytes_of_list(); }
  bool bytes_are_known() const noexcept override { return list_.bytes_are_known(); }

 private:
  ListResults<Element> list_;
};

class Collection {
 public:
  // expected: how many there will be, if that is known. A list that grows leaves twice its memory behind.
  Collection(Context& context, std::int64_t expected) : context_(context) {
    elements_.reserve(static_cast<std::size_t>(std::max<std::int64_t>(expected, 0)));
  }

  void add(Element&& element) {
    errors_in_a_row_ = 0;
    append(std::move(element));
  }
  void add_error(std::exception_ptr error) {
    has_errors_ = true;
    if (++errors_in_a_row_ > kMostErrorsInARow) refuse_errors(error);
    append(Element(InnerError{std::move(error)}));
  }
  std::unique_ptr<Results> take() {
    if (has_errors_) return std::make_unique<ResultsWithErrors>(std::move(elements_));
    return std::make_unique<ListResults<Element>>(std::move(elements_));
  }

 private:
  void append(Element&& element) {
    bytes_ += byte_count(sizeof(Element) + element.bytes());
    const std::int64_t budget = budget_of(context_);  // it may be moved while the run goes on
    if (bytes_ > budget && !elements_.empty())
      refuse("those of this one exceed " + within(budget) + " after " + std::to_string(elements_.size()));
    if (bytes_ > counted_ + kCountedBytes) count_more();
    elements_.push_back(std::move(element));
  }
  // As much again as is held, so that a call which finds no room is broken off few times.
  void count_more() {
    const std::int64_t more = 2 * bytes_ - counted_;
    counted_ += more;
    context_.reserve(static_cast<std::size_t>(more));
  }

  Context& context_;
  std::vector<Element> elements_;
  std::int64_t bytes_ = 0;
  std::int64_t counted_ = 0;
  bool has_errors_ = false;
  int errors_in_a_row_ = 0;
};

// False: there is none. What is no element's error ends the inner run, and goes on to the caller.
bool add_next(RunCore& run, Collection& results) {
  Element element;
  try {
    if (run.next(element, nullptr) == RunCore::Status::end) return false;
  } catch (const ElementError&) {
    results.add_error(std::current_exception());
    return true;
  }
  results.add(std::move(element));
  return true;
}

}  // namespace

std::unique_ptr<Results> results_of(const graph::NodeRef& inner, Context& context) {
  const std::int64_t cardinality = graph::cardinality(inner);
  check_size(cardinality, budget_of(context));
  const auto run =
      start_run(inner, {.first_epoch = context.epoch(), .pass = context.stamp().pass, .serial = true, .tune = false});
  Collection results(context, cardinality);
  while (!context.is_unwanted()) {
    if (add_next(*run, results)) continue;
    context.count_dropped(run->stats().dropped);  // once: nothing breaks the call off from here on
    return results.take();
  }
  return nullptr;
}

}  // namespace penstock::detail
