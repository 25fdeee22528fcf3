// Errors as elements: in their place, with their place.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/engine/support.h"

namespace penstock {
namespace {

using namespace testing;

// The first error of a run, everything else read over.
template <class T> ElementError first_error(const Dataset<T>& data, const RunOptions& options = {}) {
  auto run = data.start(options);
  try {
    while (run.next()) {
    }
  } catch (const ElementError& error) {
    return error;
  }
  throw std::logic_error("the run gave no error");
}

std::string whole_text(const std::exception_ptr& cause) { return message_of(cause); }

TEST(Errors, StandInTheirPlaceAndLeaveNeighboursAlone) {
  EXPECT_EQ(read(range(6).map(failing_at(3)).map(plus_one)), (Texts{"1", "2", "3", "x3", "5", "6"}));
}

// A source of numbers that can be made in any order, all but one.
class BrokenAt final : public SourceOp, public IndexedSource {
 public:
  explicit BrokenAt(std::int64_t bad) : bad_(bad) {}
  std::string name() const override { return "broken"; }
  Flow flow(const Flow&) const override { return {.cardinality = size()}; }
  const IndexedSource* indexed() const override { return this; }
  std::unique_ptr<SourceReader> open() const override { return nullptr; }
  std::int64_t size() const override { return 10; }
  Element at(std::int64_t i) const override { return Element(failing_at(bad_)(i)); }

 private:
  std::int64_t bad_;
};

// The stage is called "broken+shuffle+take", but only the source of them can fail.
TEST(Errors, OfASourceNameTheSourceAloneWhateverChoosesItsPositions) {
  const Dataset<std::int64_t> source(graph::append(nullptr, std::make_shared<BrokenAt>(3), CallSite::here()));
  const ErrorPlace place = first_error(source.shuffle(10, {.seed = 1}).take(10)).place();
  EXPECT_EQ(place.op, "broken");
  EXPECT_EQ(place.position, 0);
  EXPECT_EQ(place.source_ordinal, 3);
}

TEST(Errors, OfSeveralStagesKeepTheOrderOfTheirElements) {
  const auto data = range(7).map(failing_at(5)).map(failing_at(1)).map(failing_at(3));
  EXPECT_EQ(read(data), (Texts{"0", "x1", "2", "x3", "4", "x5", "6"}));
}

TEST(Errors, KeepTheirPlaceBehindTwoMapsUnbatchShuffleAndBatch) {
  const CallSite here = CallSite::here();
  auto data = range(20)
                  .skip(2)
                  .map(failing_at(9), 2)  // four lines below `here`
                  .map(plus_one)
                  .map([](std::int64_t value) {
                    return std::vector<std::int64_t>{value, value};
                  })
                  .unbatch()
                  .shuffle(5, {.seed = 1})
                  .batch(4);
  const ErrorPlace place = first_error(data).place();
  EXPECT_EQ(place.op, "map");
  EXPECT_EQ(place.position, 2);
  EXPECT_THAT(place.call_site, ::testing::HasSubstr("error_test.cc:"));
  EXPECT_GE(std::atoi(place.call_site.c_str() + place.call_site.rfind(':') + 1), here.line);
  EXPECT_EQ(place.ordinal, 7);  // the eighth element that the map saw
  EXPECT_EQ(place.source_ordinal, 9);
  EXPECT_EQ(place.origin, "");
  EXPECT_EQ(place.epoch, 0u);
}

TEST(Errors, SayInTheirTextWhereAndWhat) {
  const auto error = first_error(range(5).map(failing_at(2)));
  EXPECT_THAT(error.what(), ::testing::HasSubstr("map"));
  EXPECT_THAT(error.what(), ::testing::HasSubstr("error_test.cc"));
  EXPECT_THAT(error.what(), ::testing::HasSubstr("planted at 2"));
}

TEST(Errors, TellTheEpochThatTheyHappenedIn) {
  auto run = range(3).map(failing_at(1)).start({.epochs = 2});
  EXPECT_EQ(rest_of(run), (Texts{"0", "x1", "2"}));
  try {
    for (std::int64_t value : run.epoch(1)) EXPECT_EQ(value, 0);
    ADD_FAILURE() << "epoch 1 gave no error";
  } catch (const ElementError& error) {
    EXPECT_EQ(error.place().epoch, 1u);
    EXPECT_EQ(error.place().ordinal, 1);
  }
}

// Elements of a stream op share a call where they are cheap: errors must not be counted by what came out of it.
TEST(Errors, OfAStreamOpTellWhichOfItsInputsFailed) {
  const auto tensor = [](std::int64_t i) { return Tensor(DType::u8, {i % 100 == 99 ? 2 : 1}); };
  auto run = range(2000).map(tensor).batch(10).start();
  int failed = 0;
  for (bool more = true; more;) {
    try {
      more = run.next().has_value();
    } catch (const ElementError& error) {
      EXPECT_EQ(error.place().op, "batch");
      EXPECT_EQ(error.place().ordinal, error.place().source_ordinal);
      ++failed;
    }
  }
  EXPECT_GT(failed, 0);
}

class FileList : public ::testing::Test {
 protected:
  FileList()
      : path_(std::filesystem::path(::testing::TempDir()) / ("penstock_error_test" + std::to_string(::getpid()))) {
    std::ofstream file(path_);
    for (const char* name : {"a.jpg", "b.jpg", "c.jpg", "d.jpg"}) file << name << '\n';
  }
  ~FileList() override { std::filesystem::remove(path_); }

  std::filesystem::path path_;
};

TEST_F(FileList, NamesTheFileThatFailed) {
  auto fails_at_c = [](std::string name) {
    if (name.ends_with("c.jpg")) throw Error(ErrorCode::data_loss, "truncated");
    return name;
  };
  const auto error = first_error(from_file_list(path_.string()).shuffle(4, {.seed = 3}).map(fails_at_c).batch(2));
  EXPECT_THAT(error.place().origin, ::testing::EndsWith("c.jpg"));
  EXPECT_THAT(error.what(), ::testing::HasSubstr("c.jpg"));
  EXPECT_EQ(error.code(), ErrorCode::data_loss);
  EXPECT_EQ(error.place().source_ordinal, 2);
}

TEST(Errors, KeepTheOriginalException) {
  struct Mine : std::runtime_error {
    Mine() : std::runtime_error("mine") {}
    int number = 42;
  };
  const auto error = first_error(range(1).map([](std::int64_t value) {
    if (value == 0) throw Mine();
    return value;
  }));
  try {
    std::rethrow_exception(error.cause());
  } catch (const Mine& mine) {
    EXPECT_EQ(mine.number, 42);
  }
}

// Those of a plain std::bad_alloc are one for all: there may be no memory for another.
TEST(Errors, KeepTheOriginalWhereItIsAKindOfBadAlloc) {
  struct PoolIsEmpty : std::bad_alloc {};
  const auto error = first_error(range(1).map([](std::int64_t value) {
    if (value == 0) throw PoolIsEmpty();
    return value;
  }));
  EXPECT_THROW(std::rethrow_exception(error.cause()), PoolIsEmpty);
}

TEST(Errors, OfATypeThatIsNoExceptionArriveAsElementErrors) {
  const auto error = first_error(range(3).map([](std::int64_t value) {
    if (value == 1) throw 42;
    return value;
  }));
  EXPECT_EQ(error.code(), ErrorCode::internal);
  EXPECT_EQ(error.place().source_ordinal, 1);
  EXPECT_THROW(std::rethrow_exception(error.cause()), int);
  EXPECT_THAT(whole_text(error.cause()), ::testing::HasSubstr("unknown exception"));
}

TEST(Errors, OfAFilterAndASourceAreElementErrorsToo) {
  const auto filtered = range(4).filter([](std::int64_t value) {
    if (value == 2) throw std::invalid_argument("odd one");
    return value != 1;
  });
  EXPECT_EQ(read(filtered), (Texts{"0", "x2", "3"}));
  const auto generated = from_generator([i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
    if (i == 4) return std::nullopt;
    if (i++ == 1) throw std::runtime_error("no element");
    return i - 1;
  });
  EXPECT_EQ(read(generated), (Texts{"0", "x1", "2", "3"}));
  EXPECT_EQ(first_error(generated).place().ordinal, 1);
}

struct CannotBegin {
  explicit CannotBegin(const Pass& pass) {
    if (pass.epoch == 1) throw std::runtime_error("no such file");
  }
  std::optional<std::int64_t> operator()() { return left-- > 0 ? std::optional(left) : std::nullopt; }
  std::int64_t left = 2;
};

TEST(Errors, OfASourceThatCannotBeginItsPassAreElementErrors) {
  const auto data = from_generator([](const Pass& pass) { return CannotBegin(pass); });
  for (const bool serial : {true, false}) {
    auto run = data.map(plus_one).start({.serial = serial});
    EXPECT_EQ(rest_of(run), (Texts{"2", "1"}));
    run.epoch(1);
    EXPECT_EQ(rest_of(run), Texts{"x-1"}) << "of no element";
    run.epoch(2);
    EXPECT_EQ(rest_of(run), (Texts{"2", "1"}));
  }
}

// Passes elements on, and throws wherever it is told to.
class Fragile final : public StreamOp {
 public:
  enum class At : std::uint8_t { begin, error, end, held };
  explicit Fragile(At at) : at_(at) {}

  std::string name() const override { return "fragile"; }
  Flow flow(const Flow& input) const override { return input; }
  std::unique_ptr<StreamState> open(std::uint64_t) const override { return std::make_unique<State>(at_); }

 private:
  class State final : public StreamState {
   public:
    explicit State(At at) : at_(at) {}
    void begin_pass(Emitter&) override { fail_at(At::begin); }
    void element(Slot&& slot, Emitter& out) override { out.forward(std::move(slot)); }
    void error(Slot&&, Emitter&) override { fail_at(At::error); }
    void pass_end(Emitter&) override { fail_at(At::end); }
    std::int64_t held_bytes() const override {
      fail_at(At::held);
      return 0;
    }

   private:
    void fail_at(At at) const {
      if (at == at_) throw std::runtime_error("fragile");
    }
    At at_;
  };
  At at_;
};

TEST(Errors, OfEveryFunctionOfAUsersStreamOpAreElementErrors) {
  for (const auto at : {Fragile::At::begin, Fragile::At::error, Fragile::At::end}) {
    const auto data = range(3).map(failing_at(1)).then(std::make_shared<Fragile>(at)).map(plus_one);
    for (const bool serial : {true, false}) {
      auto run = data.start({.on_error = skip_all(), .serial = serial});
      EXPECT_EQ(rest_of(run), (Texts{"1", "3"})) << static_cast<int>(at);
      EXPECT_GE(run.stats().errors, 1) << static_cast<int>(at);
    }
  }
}

// Asked for after each call, so it is one error however the elements are grouped.
TEST(Errors, OfWhatAStreamOpHoldsAreOneElementAndCostNoOther) {
  const auto data = range(1000).then(std::make_shared<Fragile>(Fragile::At::held));
  for (const bool serial : {true, false}) {
    auto run = data.start({.on_error = skip_all(), .serial = serial});
    EXPECT_EQ(rest_of(run), numbers(0, 1000));
    EXPECT_EQ(run.stats().errors, 1);
    EXPECT_EQ(first_error(data, {.serial = serial}).place().op, "fragile");
  }
}

// Nor has the source an element that could be named.
TEST(Errors, OfAPassAreOfNoElementOfTheSource) {
  for (const auto at : {Fragile::At::begin, Fragile::At::end}) {
    const auto none = from_vector(std::vector<std::string>{}).then(std::make_shared<Fragile>(at));
    for (const bool serial : {true, false}) {
      const ErrorPlace place = first_error(none, {.serial = serial}).place();
      EXPECT_EQ(place.source_ordinal, -1);
      EXPECT_EQ(place.origin, "");
    }
  }
}

// A source whose broken element cannot be named either.
class Nameless final : public SourceOp, public IndexedSource {
 public:
  std::string name() const override { return "nameless"; }
  Flow flow(const Flow&) const override { return {.cardinality = size()}; }
  const IndexedSource* indexed() const override { return this; }
  std::unique_ptr<SourceReader> open() const override { return nullptr; }
  std::int64_t size() const override { return 3; }
  Element at(std::int64_t i) const override { return Element(failing_at(1)(i)); }
  std::string origin(std::int64_t) const override { throw std::runtime_error("no record"); }
};

TEST(Errors, OfASourceThatCannotNameItsElementAreElementErrors) {
  const Dataset<std::int64_t> source(graph::append(nullptr, std::make_shared<Nameless>(), CallSite::here()));
  for (const bool serial : {true, false}) {
    EXPECT_EQ(read(source, {.serial = serial}), (Texts{"0", "x1", "2"}));
    EXPECT_NE(first_error(source, {.serial = serial}).place().origin.find("no record"), std::string::npos);
  }
}

// A payload that cannot be moved when it holds 3, and has nothing to destroy.
struct Stubborn {
  explicit Stubborn(std::int64_t number) : value(number) {}
  Stubborn(const Stubborn& other) : value(other.value) {
    if (value == 3) throw std::runtime_error("this one does not move");
  }
  std::int64_t value;
};

TEST(Errors, OfAPayloadThatThrowsWhenMovedStayWithThatElement) {
  const auto data = range(6).map([](std::int64_t value) { return Stubborn(value); }).map([](const Stubborn& stubborn) {
    return stubborn.value;
  });
  EXPECT_EQ(read(data), (Texts{"0", "1", "2", "x3", "4", "5"}));
}

TEST(Errors, OfAPayloadThatThrowsWhenCopiedOutOfAVectorStayWithThatElement) {
  std::vector<Stubborn> values;
  for (std::int64_t i = 0; i < 5; ++i) values.emplace_back(i == 3 ? 9 : i);
  values[3].value = 3;
  // Moving the vector moves no value. Who takes value 3 copies it; who only looks at it does not.
  const auto data = from_vector(std::move(values));
  const auto look = [](const Stubborn& stubborn) { return stubborn.value; };
  EXPECT_EQ(read(data.map([](Stubborn stubborn) { return stubborn.value; })), (Texts{"0", "1", "2", "x3", "4"}));
  EXPECT_EQ(read(data.prefetch(2).map(look)), (Texts{"0", "1", "2", "x3", "4"}));
  EXPECT_EQ(read(data.filter([](const Stubborn&) { return true; }).prefetch(2).map(look)),
            (Texts{"0", "1", "2", "x3", "4"}));
  EXPECT_EQ(read(data.filter([](const Stubborn&) { return true; }).map(look)), (Texts{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(read(data.map(look)), (Texts{"0", "1", "2", "3", "4"}));
}

// -------------------------------------------------------------------------------- policy

TEST(ErrorPolicy, SkipsAsManyAsItIsToldAndThenThrows) {
  const auto data = range(6).map([](std::int64_t value) {
    if (value % 2 == 1) throw std::runtime_error("odd");
    return value;
  });
  EXPECT_EQ(read(data, {.on_error = skip_up_to(2)}), (Texts{"0", "2", "4", "x5"}));
  EXPECT_EQ(read(data, {.on_error = skip_all()}), (Texts{"0", "2", "4"}));
  EXPECT_EQ(read(data, {.on_error = stop_on_error()}), (Texts{"0", "x1", "2", "x3", "4", "x5"}));
}

TEST(ErrorPolicy, CountsWhatItDid) {
  const auto data = range(10).map(failing_at(1)).map(failing_at(7));
  auto run = data.ignore_errors().start();
  EXPECT_EQ(rest_of(run).size(), 8u);
  EXPECT_EQ(run.stats().dropped, 2);
  EXPECT_EQ(run.snapshot().stages.back().dropped, 2);
  EXPECT_EQ(run.stats().errors, 0);
  auto skipping = data.start({.on_error = skip_up_to(1)});
  EXPECT_EQ(rest_of(skipping).size(), 9u);
  EXPECT_EQ(skipping.stats().delivered, 8);
  EXPECT_EQ(skipping.stats().skipped, 1);
  EXPECT_EQ(skipping.stats().errors, 2);
}

// Its size cannot be told.
struct Unmeasured {
  std::int64_t number = 0;
};
std::size_t bytes_of(const Unmeasured& element) {
  if (element.number == 3) throw std::runtime_error("no size");
  return 8;
}

TEST(Errors, OfASizeThatCannotBeToldAreElements) {
  const auto number = [](const Unmeasured& element) { return element.number; };
  const auto one = range(10).map([](std::int64_t value) { return Unmeasured{value}; }).map(number);
  const auto pair = [](std::int64_t value) { return std::vector{Unmeasured{2 * value}, Unmeasured{2 * value + 1}}; };
  const auto several = range(5).flat_map(pair).map(number);
  for (const auto& data : {one, several}) {
    for (const bool serial : {true, false}) {
      auto run = data.start({.on_error = skip_all(), .serial = serial});
      EXPECT_EQ(rest_of(run), (Texts{"0", "1", "2", "4", "5", "6", "7", "8", "9"}));
      EXPECT_EQ(run.stats().errors, 1);
    }
  }
  EXPECT_EQ(first_error(one).place().source_ordinal, 3);
  EXPECT_EQ(first_error(several).place().op, "flat_map");
  EXPECT_NE(std::string(first_error(several).what()).find("no size"), std::string::npos);
}

}  // namespace
}  // namespace penstock
