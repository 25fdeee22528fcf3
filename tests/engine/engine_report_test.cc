// What is seen of an engine from outside.
#include "lib/exec/engine_report.h"

#include <gtest/gtest.h>
#include <penstock/penstock.h>

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "lib/exec/compile.h"
#include "lib/exec/engine.h"
#include "tests/support/pumped.h"

namespace penstock::exec {
namespace {

std::shared_ptr<Engine> engine_of(const Dataset<std::int64_t>& dataset) {
  EngineSettings settings;
  settings.memory_bytes = 1 << 20;
  settings.cpu_budget = 3;
  settings.open_io = 7;
  return Engine::make(compile(dataset.node()), settings, testing::first_come());
}

class EngineReportTest : public ::testing::Test {
 protected:
  void tell(std::int64_t clocks_read_at) {
    Surroundings surroundings;
    surroundings.runs = 2;
    surroundings.process_cpu_ns = 500;
    surroundings.clocks_read_at = clocks_read_at;
    engine_->report().set_surroundings(surroundings);
  }
  std::shared_ptr<Engine> engine_ = engine_of(range(10));
};

TEST_F(EngineReportTest, ShowsWhatTheRunBeganWithUntilMoreIsTold) {
  const Snapshot now = engine_->snapshot();
  EXPECT_EQ(now.cpu_budget, 3);
  EXPECT_EQ(now.open_io_limit, 7);
  EXPECT_EQ(now.memory_limit, 1 << 20);
  EXPECT_EQ(now.clocks_ns, Snapshot().clocks_ns) << "nobody has read the clocks yet";
}

TEST_F(EngineReportTest, ShowsClocksThatWereReadSinceTheRunBegan) {
  tell(engine_->state().started_ns + 1000);
  const Snapshot now = engine_->snapshot();
  EXPECT_EQ(now.runs, 2);
  EXPECT_EQ(now.process_cpu_ns, 500);
  EXPECT_EQ(now.clocks_ns, 1000);
}

TEST_F(EngineReportTest, LeavesOutClocksThatWereReadBeforeTheRunBegan) {
  tell(engine_->state().started_ns - 1);
  const Snapshot now = engine_->snapshot();
  EXPECT_EQ(now.runs, 2);
  EXPECT_EQ(now.process_cpu_ns, Snapshot().process_cpu_ns);
  EXPECT_EQ(now.clocks_ns, Snapshot().clocks_ns);
}

TEST_F(EngineReportTest, CountsErrorsThatOpsLeaveOut) {
  const auto every_third_fails = [](std::int64_t value) {
    if (value % 3 == 0) throw std::runtime_error("planted");
    return value;
  };
  const auto engine = engine_of(range(10).map(every_third_fails).ignore_errors());
  for (Slot slot; slot.kind() != Slot::Kind::pass_end;) engine->next(slot);
  EXPECT_EQ(engine->report().dropped(), 4);
}

}  // namespace
}  // namespace penstock::exec
