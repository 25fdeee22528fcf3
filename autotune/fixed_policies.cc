// Policies that set every call count to one number and leave it there.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "autotune/growing_prefetch.h"
#include "autotune/hill_policy.h"
#include "autotune/policy.h"

namespace penstock::autotune {
namespace {

// What `calls` says of a machine; prefetch as tf.data's: doubled when the consumer found nothing although there was no
// room before.
class FixedPolicy final : public Policy {
 public:
  // `per_permit` calls for each CPU permit, or `calls` if that is more than 0.
  FixedPolicy(double per_permit, std::int64_t calls) : per_permit_(per_permit), calls_(calls) {}

  void tick(const Snapshot& now, std::vector<Knob>& knobs) override {
    const auto permits = std::ceil(now.cpu_budget - 0.01);
    const std::int64_t calls = calls_ > 0 ? calls_ : static_cast<std::int64_t>(per_permit_ * permits);
    for (Knob& knob : knobs) {
      if (knob.kind == KnobKind::prefetch) deepen(knob, now);
      if (knob.stage >= 0) set(knob, now.stages[static_cast<std::size_t>(knob.stage)], calls, now);
    }
  }

 private:
  void set(Knob& knob, const StageSnapshot& stage, std::int64_t calls, const Snapshot& now) {
    if (!stage.parallel) return;
    const bool waits = stage.on_pool || stage.completes_later;
    if (knob.kind == KnobKind::parallelism)
      move(knob, waits ? std::min(calls, now.open_io_limit) : calls, Reason::rule, now);
    if (knob.kind == KnobKind::window) move(knob, std::max(2 * calls, std::int64_t{2}), Reason::rule, now);
  }

  void deepen(Knob& prefetch, const Snapshot& now) {
    if (const auto depth = prefetch_.wish(now)) move(prefetch, *depth, Reason::rule, now);
  }

  const double per_permit_;
  const std::int64_t calls_;
  GrowingPrefetch prefetch_;
};

class NoPolicy final : public Policy {
 public:
  void tick(const Snapshot&, std::vector<Knob>&) override {}
};

std::optional<std::int64_t> number_of_static(std::string_view name) {
  constexpr std::string_view prefix = "static:";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 1) return std::nullopt;
  return number;
}

}  // namespace

std::unique_ptr<Policy> make_policy(std::string_view name) {
  if (name == "penstock") return default_policy();
  if (name == "cores") return std::make_unique<FixedPolicy>(1.0, 0);
  if (name == "tf-max10") return std::make_unique<FixedPolicy>(10.0, 0);
  if (name == "tf-hill") return std::make_unique<HillPolicy>();
  if (name == "none") return std::make_unique<NoPolicy>();
  if (const auto number = number_of_static(name)) return std::make_unique<FixedPolicy>(0.0, *number);
  return nullptr;
}

}  // namespace penstock::autotune
