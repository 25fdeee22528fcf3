// Ops of a user's own that do what op.h does not expect: answers given twice, states and readers that are missing or
// throw.
#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/expect_error.h"

namespace penstock {
namespace {

using Texts = std::vector<std::string>;

// What a run gives, an error as "x", up to its end.
Texts texts_of(const Dataset<std::int64_t>& data, bool serial = false) {
  auto run = data.start({.serial = serial});
  Texts texts;
  while (true) {
    try {
      const auto value = run.next();
      if (!value) return texts;
      texts.push_back(std::to_string(*value));
    } catch (const ElementError&) {
      texts.emplace_back("x");
    }
  }
}

// ------------------------------------------------------------------------------------------------ answers

enum class Answer : std::uint8_t { emit, emit_many, drop, fail };

void give(Slot& slot, Answer answer) {
  std::vector<Element> two;
  two.emplace_back(std::int64_t{7});
  two.emplace_back(std::int64_t{8});
  switch (answer) {
    case Answer::emit: return slot.emit(Element(std::int64_t{5}));
    case Answer::emit_many: return slot.emit_many(std::move(two));
    case Answer::drop: return slot.drop();
    case Answer::fail: return slot.fail(std::make_exception_ptr(std::runtime_error("refused")));
  }
}

class AnswersTwice final : public ElementwiseOp {
 public:
  AnswersTwice(Answer first, Answer last) : first_(first), last_(last) {}
  std::string name() const override { return "answers_twice"; }
  Flow flow(const Flow&) const override { return {}; }
  void run(std::span<Slot> slots, Context&) const override {
    for (Slot& slot : slots) {
      give(slot, first_);
      give(slot, last_);
    }
  }

 private:
  const Answer first_, last_;
};

TEST(OwnOp, ThatAnswersTwiceMeansTheLastAnswer) {
  const std::vector<std::pair<Answer, Texts>> answers = {{Answer::emit, {"5", "5"}},
                                                         {Answer::emit_many, {"7", "8", "7", "8"}},
                                                         {Answer::drop, {}},
                                                         {Answer::fail, {"x", "x"}}};
  for (const auto& first : answers) {
    for (const auto& [last, texts] : answers) {
      const auto data = range(2).then<std::int64_t>(std::make_shared<AnswersTwice>(first.first, last));
      const auto same = [](std::int64_t value) { return value; };
      for (const bool serial : {false, true}) EXPECT_EQ(texts_of(data.map(same), serial), texts);
    }
  }
}

// ------------------------------------------------------------------------------------------------ states

// Adds up what it has seen. It says nothing about its parallelism.
class Sums final : public ElementwiseOp {
 public:
  explicit Sums(bool opens) : opens_(opens) {}
  std::string name() const override { return "sums"; }
  Flow flow(const Flow& input) const override { return input; }
  bool has_state() const override { return true; }
  std::unique_ptr<ElementwiseState> open() const override { return opens_ ? std::make_unique<State>() : nullptr; }

 private:
  struct State final : ElementwiseState {
    void run(std::span<Slot> slots, Context&) override {
      for (Slot& slot : slots) slot.emit(Element(sum += slot.take<std::int64_t>()));
    }
    std::int64_t sum = 0;
  };
  const bool opens_;
};

TEST(OwnOp, WithAStateRunsOneCallAtATimeThoughItDoesNotSaySo) {
  const auto data = range(20'000).then(std::make_shared<Sums>(true));
  auto run = data.start();
  std::int64_t i = 0;
  while (const auto sum = run.next()) {
    ASSERT_EQ(*sum, i * (i + 1) / 2);
    ++i;
  }
  EXPECT_EQ(i, 20'000);
  for (const Knob& knob : run.knobs()) {
    EXPECT_TRUE(knob.name != "parallelism" || knob.high == 1) << "nobody can give it more calls";
  }
  EXPECT_NE(describe(data).find("parallelism=1"), std::string::npos) << describe(data);
}

TEST(OwnOp, WithAStateThatItDoesNotOpenFailsItsElements) {
  const auto data = range(2).then(std::make_shared<Sums>(false));
  for (const bool serial : {false, true}) EXPECT_EQ(texts_of(data, serial), (Texts{"x", "x"}));
  EXPECT_ERROR(data.start().next(), ErrorCode::unimplemented, "open() gave a null pointer");
}

// ------------------------------------------------------------------------------------------------ open()

template <class Opened> using Opener = std::function<std::unique_ptr<Opened>()>;

class OpensStream final : public StreamOp {
 public:
  explicit OpensStream(Opener<StreamState> open) : open_(std::move(open)) {}
  std::string name() const override { return "stream"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return open_(); }

 private:
  const Opener<StreamState> open_;
};

class OpensSource final : public SourceOp {
 public:
  explicit OpensSource(Opener<SourceReader> open) : open_(std::move(open)) {}
  std::string name() const override { return "source"; }
  Flow flow(const Flow&) const override { return {}; }
  std::unique_ptr<SourceReader> open() const override { return open_(); }

 private:
  const Opener<SourceReader> open_;
};

Dataset<std::int64_t> from(Opener<SourceReader> open) {
  return Dataset<std::int64_t>(
      graph::append(nullptr, std::make_shared<OpensSource>(std::move(open)), CallSite::here()));
}

[[noreturn]] void refuse() { throw Error(ErrorCode::permission_denied, "the gate is shut"); }

// Who skips all errors is not to skip this one for ever.
TEST(OwnOp, ThatCannotBeOpenedIsNamedByTheError) {
  const auto source = from([]() -> std::unique_ptr<SourceReader> { refuse(); });
  const auto stream = range(3).then(std::make_shared<OpensStream>([]() -> std::unique_ptr<StreamState> { refuse(); }));
  for (const bool serial : {false, true}) {
    const RunOptions options{.on_error = skip_all(), .serial = serial};
    EXPECT_ERROR(source.start(options).next(), ErrorCode::permission_denied, "source (op 0 at own_ops_test.cc:");
    EXPECT_ERROR(source.start(options).next(), ErrorCode::permission_denied, ") could not be opened: the gate is shut");
    EXPECT_ERROR(stream.start(options).next(), ErrorCode::permission_denied, "stream (op 1 at own_ops_test.cc:");
  }
}

TEST(OwnOp, ThatOpensNothingIsNamedByTheError) {
  const auto source = from([] { return nullptr; });
  const auto stream = range(3).then(std::make_shared<OpensStream>([] { return nullptr; }));
  EXPECT_ERROR(source.start().next(), ErrorCode::unimplemented, "source (op 0 at own_ops_test.cc:");
  EXPECT_ERROR(stream.start().next(), ErrorCode::unimplemented, "stream (op 1 at own_ops_test.cc:");
}

TEST(OwnOp, ThatCouldNotBeOpenedIsAskedAgainByTheNextRequest) {
  class Empty final : public SourceReader {
    void begin_pass(std::uint32_t, std::uint32_t) override {}
    std::optional<Element> next(Context&) override { return std::nullopt; }
  };
  int asked = 0;
  const auto source = from([&]() -> std::unique_ptr<SourceReader> {
    if (++asked == 1) refuse();
    return std::make_unique<Empty>();
  });
  auto run = source.start();
  EXPECT_ERROR(run.next(), ErrorCode::permission_denied, "the gate is shut");
  EXPECT_EQ(run.next(), std::nullopt);
}

// ------------------------------------------------------------------------------------------------ no dataset at all

TEST(EmptyDataset, IsRefusedWhereItIsUsed) {
  const Dataset<std::int64_t> none(nullptr);
  EXPECT_ERROR(none.begin(), ErrorCode::invalid_argument, "the dataset is empty");
  EXPECT_ERROR(none.start(), ErrorCode::invalid_argument, "the dataset is empty");
  EXPECT_ERROR(none.cardinality(), ErrorCode::invalid_argument, "the dataset is empty");
  EXPECT_ERROR(describe(none), ErrorCode::invalid_argument, "the dataset is empty");
  EXPECT_ERROR(none.take(3), ErrorCode::invalid_argument, "it needs an input");
  EXPECT_EQ(texts_of(range(2).flat_map([none](std::int64_t) { return none; })), (Texts{"x", "x"}));
}

}  // namespace
}  // namespace penstock
