#include "lib/runtime/system_share.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace penstock::runtime {
namespace {

std::int64_t quarter_of_memory(const MemoryLimits& limits, int ranks) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 4);
  const std::uint64_t quarter = limits.bytes() / 4 / static_cast<std::uint64_t>(ranks);
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(quarter, std::uint64_t{64} << 20, most));
}

}  // namespace

SystemShare::SystemShare(int ranks, HostLimits host, std::function<std::int64_t()> clock)
    : ranks_(ranks), host_(std::move(host)), clock_(std::move(clock)) {}

double SystemShare::cpus(std::int64_t oldest) {
  MutexLock lock(mutex_);
  return recent(cpus_, oldest, [this] { return host_.cpus().for_rank(ranks_); });
}

std::int64_t SystemShare::memory(std::int64_t oldest) {
  MutexLock lock(mutex_);
  return recent(memory_, oldest, [this] { return quarter_of_memory(host_.memory(), ranks_); });
}

template <class Value, class Read>
Value SystemShare::recent(std::optional<Reading<Value>>& known, std::int64_t oldest, Read read) {
  const std::int64_t now = clock_();
  if (!known || now - known->at > oldest) known = Reading<Value>{read(), now};
  return known->value;
}

}  // namespace penstock::runtime
