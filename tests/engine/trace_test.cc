// The file that RunOptions::trace asks for: what a viewer needs, and what the run did.
#include "lib/exec/trace.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lib/runtime/start_run.h"

#include "tests/engine/support.h"
#include "tests/support/expect_error.h"
#include "tests/support/file_contents.h"
#include "tests/support/temporary_folder.h"

namespace penstock {
namespace {

using namespace testing;
using test::file_contents;
using test::TemporaryFolder;
using Json = nlohmann::json;

std::string text_at(const Json& event, const char* key) { return event.value(key, std::string()); }

struct Traced {
  Snapshot last;
  std::vector<Json> events;
  Json other;
  std::vector<Json> of_phase(const std::string& phase) const {
    std::vector<Json> found;
    std::copy_if(events.begin(), events.end(), std::back_inserter(found),
                 [&](const Json& each) { return text_at(each, "ph") == phase; });
    return found;
  }
};

template <class T>
Traced trace_of(const Dataset<T>& dataset, RunOptions options = {},
                runtime::PolicyMaker policy = autotune::default_policy) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  options.trace = path;
  Traced traced;
  {
    Run<T> run(runtime::start_run(dataset.node(), options, std::move(policy)));
    rest_of(run);
    traced.last = run.snapshot();
  }
  const Json file = Json::parse(file_contents(path));
  traced.events = file.at("traceEvents").get<std::vector<Json>>();
  traced.other = file.at("otherData");
  return traced;
}

std::int64_t short_nap(std::int64_t value) {
  std::this_thread::sleep_for(1ms);
  return value;
}

TEST(Trace, ShowsEachCallOfEachStage) {
  for (bool serial : {false, true}) {
    const Traced traced =
        trace_of(range(300).map(short_nap, 8, {.blocks = true}).map(plus_one).batch(10), {.serial = serial});
    std::map<int, std::int64_t> calls, elements;
    for (const Json& event : traced.of_phase("X")) {
      ++calls[event.at("args").at("stage")];
      elements[event.at("args").at("stage")] += event.at("args").at("elements").get<std::int64_t>();
      EXPECT_GE(event.at("dur").get<double>(), 0);
      EXPECT_GE(event.at("ts").get<double>(), 0);
    }
    for (std::size_t i = 0; i < traced.last.stages.size(); ++i) {
      EXPECT_EQ(calls[static_cast<int>(i)], traced.last.stages[i].calls) << traced.last.stages[i].name;
      EXPECT_EQ(elements[static_cast<int>(i)], 300) << traced.last.stages[i].name;
    }
    EXPECT_EQ(traced.other.size(), 1u);
    EXPECT_EQ(traced.other.front(), "0");
  }
}

// On one thread, one thing lies within another or beside it: a viewer shows nothing else.
TEST(Trace, NestsWhatAThreadDoes) {
  const Traced traced = trace_of(range(300).map(short_nap, 8, {.blocks = true}).map(plus_one).batch(10));
  std::map<std::int64_t, std::vector<std::pair<double, double>>> threads;
  for (const Json& event : traced.of_phase("X")) {
    const double begin = event.at("ts");
    threads[event.at("tid")].emplace_back(begin, begin + event.at("dur").get<double>());
  }
  for (auto& [thread, spans] : threads) {
    std::sort(spans.begin(), spans.end(),
              [](auto a, auto b) { return a.first != b.first ? a.first < b.first : a.second > b.second; });
    std::vector<double> open;
    for (const auto& [begin, end] : spans) {
      while (!open.empty() && open.back() <= begin + 0.002) open.pop_back();
      const double enclosing = open.empty() ? end : open.back() + 0.002;
      EXPECT_LE(end, enclosing) << "thread " << thread << " at " << begin;
      open.push_back(end);
    }
  }
  std::set<std::string> names;
  for (const Json& event : traced.of_phase("M")) {
    if (event.at("name") == "thread_name") names.insert(event.at("args").at("name"));
  }
  EXPECT_EQ(names, (std::set<std::string>{"consumer", "pool thread", "worker"}));
}

// What an arrow goes through: where it begins, turns and ends, and the stage of each end; -1 is the consumer.
struct Arrow {
  std::string phases;
  std::vector<int> stages;
};

std::vector<Arrow> arrows_of(const Traced& traced) {
  std::map<std::int64_t, std::vector<Json>> flows;
  for (const Json& event : traced.events) {
    if (text_at(event, "cat") == "element") flows[event.at("id")].push_back(event);
  }
  std::map<std::pair<std::int64_t, double>, int> stage_at;  // thread and begin of a span
  for (const Json& event : traced.of_phase("X")) {
    stage_at[{event.at("tid"), event.at("ts")}] = event.at("args").at("stage");
  }
  std::vector<Arrow> arrows;
  for (const auto& [number, ends] : flows) {
    Arrow& arrow = arrows.emplace_back();
    double last = 0;
    for (const Json& end : ends) {
      arrow.phases += text_at(end, "ph");
      const auto at = stage_at.find({end.at("tid"), end.at("ts")});
      EXPECT_NE(at, stage_at.end()) << "an end of an arrow lies on no span";
      if (at != stage_at.end()) arrow.stages.push_back(at->second);
      EXPECT_GE(end.at("ts").get<double>(), last);
      last = end.at("ts");
    }
  }
  return arrows;
}

std::size_t steps_in(const Traced& traced) {
  const std::vector<Json> spans = traced.of_phase("X");
  return static_cast<std::size_t>(
      std::count_if(spans.begin(), spans.end(), [](const Json& each) { return each.at("name") == "step"; }));
}

// From the source's call through one of each stage to a step of the consumer.
TEST(Trace, FollowsEachBatchFromItsSourceToTheConsumer) {
  const Traced traced = trace_of(range(100).map(short_nap, 8, {.blocks = true}).batch(10));
  const std::vector<Arrow> arrows = arrows_of(traced);
  ASSERT_FALSE(arrows.empty());
  EXPECT_EQ(arrows.size(), steps_in(traced));
  for (const Arrow& arrow : arrows) {
    EXPECT_EQ(arrow.phases, "sttf");
    EXPECT_EQ(arrow.stages, (std::vector<int>{0, 1, 2, -1}));
  }
}

// What is done leaves a call while the call goes on, so the consumer may have it before the call's end.
TEST(Trace, FollowsWhatLeavesACallBeforeItsEnd) {
  const auto slow_at_times = [](std::int64_t value) { return value % 16 == 15 ? short_nap(value) : value; };
  std::int64_t next = 0;
  const auto source = from_generator([&]() -> std::optional<std::int64_t> {
    return next < 3'200 ? std::optional(slow_at_times(next++)) : std::nullopt;
  });
  for (const auto& dataset : {source, range(3'200).map(slow_at_times, 1, {.blocks = false})}) {
    const Traced traced = trace_of(dataset);
    const std::vector<Arrow> arrows = arrows_of(traced);
    EXPECT_EQ(arrows.size(), steps_in(traced));
    for (const Arrow& arrow : arrows) {
      EXPECT_EQ(arrow.stages.size(), traced.last.stages.size() + 1);
      EXPECT_EQ(arrow.stages.front(), 0);
    }
    std::map<int, std::int64_t> elements;
    for (const Json& event : traced.of_phase("X"))
      elements[event.at("args").at("stage")] += event.at("args").at("elements").get<std::int64_t>();
    for (std::size_t i = 0; i < traced.last.stages.size(); ++i) EXPECT_EQ(elements[static_cast<int>(i)], 3'200);
  }
}

// Moves a knob once.
class OneMove final : public autotune::Policy {
  void tick(const Snapshot& now, std::vector<Knob>& knobs) override {
    for (Knob& knob : knobs) {
      if (knob.name == "window" && knob.stage == 1 && knob.get() != 77) move(knob, 77, Reason::reordering, now);
    }
  }
};

TEST(Trace, ShowsCountersAndDecisions) {
  const Traced traced = trace_of(range(300).map(short_nap, Tunable::between(8, 9), {.blocks = true}), {},
                                 [] { return std::make_unique<OneMove>(); });
  std::set<std::string> counters;
  for (const Json& event : traced.of_phase("C")) counters.insert(event.at("name"));
  EXPECT_EQ(counters, (std::set<std::string>{"CPU slots in use", "memory, bytes", "ready for the consumer",
                                             "stage 0 range", "stage 1 map"}));
  const auto decisions = traced.of_phase("i");
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_THAT(text_at(decisions[0], "name"), ::testing::MatchesRegex("window of stage 1 map: .* -> 77"));
  EXPECT_EQ(decisions[0].at("args").at("reason"), "reordering");
}

// Its call is over at once, what it has begun is not.
class AtOnce final : public ElementwiseOp {
 public:
  std::string name() const override { return "post"; }
  Flow flow(const Flow& input) const override { return input; }
  Form form() const override { return Form::completes_later; }
  Tunable parallelism() const override { return 4; }
  void start(Element value, Context&, Completion completion) const override { completion.complete(std::move(value)); }
};

TEST(Trace, ShowsCallsThatCompleteLaterBesideTheThreads) {
  const Traced traced = trace_of(range(20).then<std::int64_t>(std::make_shared<AtOnce>()));
  const auto begins = traced.of_phase("b"), ends = traced.of_phase("e");
  ASSERT_EQ(begins.size(), 20u);
  ASSERT_EQ(ends.size(), 20u);
  std::set<std::int64_t> ids;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(ids.insert(begins[i].at("id").get<std::int64_t>()).second) << "another call's";
    EXPECT_EQ(begins[i].at("id"), ends[i].at("id"));
    EXPECT_LE(begins[i].at("ts").get<double>(), ends[i].at("ts").get<double>());
  }
}

TEST(Trace, OfARunThatWasNeverAskedIsEmpty) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  { auto run = range(3).start({.trace = path}); }
  EXPECT_EQ(Json::parse(file_contents(path)).at("traceEvents").size(), 1u) << "the process has a name";
}

TEST(Trace, OfARunThatEndsInsideItsOwnFunctionIsWrittenToo) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  std::unique_ptr<IntegerRun> run;
  std::atomic<bool> asked{false}, gone{false};
  const auto data = range(3).map([&](std::int64_t value) {
    while (!asked.load()) std::this_thread::yield();  // knobs() is a function of the run
    if (!gone.exchange(true)) run.reset();
    return value;
  });
  run = std::make_unique<IntegerRun>(data.start({.trace = path}));
  run->knobs();  // a request
  asked.store(true);
  EXPECT_TRUE(eventually([&] { return !Json::parse(file_contents(path), nullptr, false).is_discarded(); }));
}

TEST(Trace, ThatCannotBeWrittenIsRefusedAtTheStart) {
  EXPECT_ERROR(range(3).start({.trace = "/no/such/folder/trace.json"}), ErrorCode::not_found,
               "RunOptions::trace: cannot write '/no/such/folder");
}

TEST(Trace, SaysOnStderrThatTheDiskIsFull) {
  ::testing::internal::CaptureStderr();
  { read(range(3), {.trace = "/dev/full"}); }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("could not be written whole to '/dev/full'"));
}

TEST(TraceKeys, OfAnElementAreOthersInEachEpochAndPassAndOfEachSource) {
  std::set<exec::Trace::Key> keys;
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    for (std::uint32_t pass = 0; pass < 4; ++pass) {
      for (std::uint16_t source = 0; source < 4; ++source)
        keys.insert(exec::Trace::key_of({.epoch = epoch, .pass = pass, .source = source}));
    }
  }
  EXPECT_EQ(keys.size(), 64u);
}

TEST(TraceRoom, IsKeptAndWhatIsLeftOutIsCounted) {
  exec::Trace trace({.spans = 3, .keys = 4, .looks = 2});
  const auto call = [&](std::size_t keys) {
    trace.add({.kind = exec::Trace::Span::Kind::call, .elements = 5, .keys = std::vector<std::uint64_t>(keys)});
  };
  for (std::size_t keys : {3, 2, 1, 0, 0}) call(keys);
  for (int i = 0; i < 3; ++i) trace.look(Snapshot());
  trace.close();
  call(0);
  trace.look(Snapshot());
  ASSERT_EQ(trace.spans().size(), 3u);
  EXPECT_EQ(trace.spans()[0].keys.size(), 3u);
  EXPECT_EQ(trace.spans()[1].keys.size(), 0u) << "no room for its elements";
  EXPECT_EQ(trace.spans()[1].elements, 5);
  EXPECT_EQ(trace.spans()[2].keys.size(), 1u);
  EXPECT_EQ(trace.looks().size(), 2u);
  EXPECT_GE(trace.dropped(), 3);
}

}  // namespace
}  // namespace penstock
