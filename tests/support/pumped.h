// What an engine needs whose tokens run when the test says so, on a clock that the test moves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "lib/core/machine.h"
#include "lib/exec/queue_launcher.h"

namespace penstock::testing {

// The system's, but for the time, which is what the function says.
class ClockedMachine final : public SystemMachine {
 public:
  explicit ClockedMachine(std::function<std::int64_t()> clock) : clock_(std::move(clock)) {}
  std::int64_t now() const noexcept override { return clock_(); }

 private:
  const std::function<std::int64_t()> clock_;
};

// Tokens run in the order in which they come.
inline std::unique_ptr<exec::QueueLauncher> first_come() {
  return std::make_unique<exec::QueueLauncher>([](const std::vector<std::size_t>&) { return 0; });
}

}  // namespace penstock::testing
