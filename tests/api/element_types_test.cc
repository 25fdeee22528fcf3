// then<U>(op), and sources of a user's own: an op that takes or gives another type than the dataset has is told,
// whatever the build.
#include <gtest/gtest.h>
#include <penstock/ops.h>
#include <penstock/penstock.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

// Takes In, gives Out, one for one or several of one.
template <class In, class Out> class Convert final : public ElementwiseOp {
 public:
  explicit Convert(std::size_t results = 1) : results_(results) {}
  std::string name() const override { return "convert"; }
  Flow flow(const Flow&) const override { return {}; }
  void run(std::span<Slot> slots, Context&) const override {
    for (Slot& slot : slots) {
      slot.take<In>();
      if (results_ == 1) {
        slot.emit(Element(Out()));
        continue;
      }
      std::vector<Element> many;
      for (std::size_t i = 0; i < results_; ++i) many.emplace_back(Out());
      slot.emit_many(std::move(many));
    }
  }

 private:
  std::size_t results_;
};

// Keeps what comes, looking at it as an In.
template <class In> class Look final : public StreamOp {
 public:
  std::string name() const override { return "look"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(); }

 private:
  class State final : public StreamState {
    void element(Slot&& slot, Emitter& out) override {
      std::as_const(slot.value).template get<In>();
      out.forward(std::move(slot));
    }
  };
};

template <class T> std::string first_error(const Dataset<T>& data) {
  auto run = data.start({.serial = true});
  try {
    run.next();
  } catch (const ElementError& error) {
    return error.what();
  }
  return "no error";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

Dataset<std::string> words() { return from_vector(std::vector<std::string>{"tea", "coffee"}); }

TEST(ElementTypes, OfAnOpThatGivesAnotherTypeAreTold) {
  const std::string text = first_error(range(3).then<std::string>(std::make_shared<Convert<std::int64_t, double>>()));
  expect_contains(text, "convert (op 1 at");
  expect_contains(text, "gave an element of type double, but the dataset behind it has elements of type std::string");
}

TEST(ElementTypes, OfOneOfSeveralResultsAreTold) {
  expect_contains(first_error(range(3).then<float>(std::make_shared<Convert<std::int64_t, double>>(3))),
                  "of type double");
  EXPECT_EQ(first_error(range(3).then<double>(std::make_shared<Convert<std::int64_t, double>>(3))), "no error");
}

// Both are of one size, so that nothing else would notice.
TEST(ElementTypes, OfAnOpThatTakesAnotherTypeAreTold) {
  expect_contains(first_error(range(3).then<double>(std::make_shared<Convert<double, double>>())),
                  "the element is of type long, but was asked for as double");
  expect_contains(first_error(range(3).then(std::make_shared<Look<std::uint64_t>>())),
                  "but was asked for as unsigned long");
  expect_contains(first_error(words().then(std::make_shared<Look<std::vector<int>>>())),
                  "of type std::string, but was asked for as std::vector<int>");
}

TEST(ElementTypes, OfStringsThatStayInTheSourceAreTheirs) {
  EXPECT_EQ(first_error(words().then(std::make_shared<Look<std::string>>())), "no error");
  EXPECT_EQ(first_error(words().then<double>(std::make_shared<Convert<std::string, double>>())), "no error");
}

// Ops that become no stage of their own: positions of the source, repeats, buffers.
TEST(ElementTypes, OfOpsThatAreNoStageAreTold) {
  for (const auto& op : {ops::take(2), ops::shard(2, 0), ops::repeat(2), ops::repeat(-1), ops::prefetch(4)})
    expect_contains(first_error(range(3).then<std::string>(op)), "gave an element of type long");
  EXPECT_EQ(first_error(range(3).then<std::int64_t>(ops::take(2))), "no error");
}

TEST(ElementTypes, AreToldForEachElementAndNoneIsLost) {
  auto run = range(5).then<std::string>(ops::repeat(1)).start({.on_error = skip_all()});
  EXPECT_FALSE(run.next());
  EXPECT_EQ(run.stats().errors, 5);
}

TEST(ElementTypes, OfNothingAreTold) {
  class Empties final : public ElementwiseOp {
    std::string name() const override { return "empties"; }
    Flow flow(const Flow& input) const override { return input; }
    void run(std::span<Slot> slots, Context&) const override {
      for (Slot& slot : slots) slot.emit(Element());
    }
  };
  expect_contains(first_error(range(3).then(std::make_shared<Empties>())), "gave an empty element");
}

TEST(Element, TellsBothTypesWhenItIsAskedForAnother) {
  Element box(std::vector<std::string>{"tea"});
  EXPECT_TRUE(box.holds<std::vector<std::string>>());
  EXPECT_FALSE(box.holds<std::vector<int>>());
  EXPECT_ERROR(box.get<std::vector<int>>(), ErrorCode::invalid_argument,
               "the element is of type std::vector<std::string>, but was asked for as std::vector<int>");
  EXPECT_ERROR(box.take<double>(), ErrorCode::invalid_argument, "asked for as double");
  EXPECT_EQ(box.take<std::vector<std::string>>().size(), 1u);
  EXPECT_ERROR(box.get<std::vector<std::string>>(), ErrorCode::invalid_argument, "the element is empty");
}

}  // namespace
}  // namespace penstock
