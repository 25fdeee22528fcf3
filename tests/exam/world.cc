#include "tests/exam/world.h"

#include <penstock/random.h>

#include <numeric>

#include "tests/exam/random.h"

namespace penstock::exam {
namespace {

Random random_of(int stage, const Item& item, std::uint64_t seed) {
  return Random(mix64(seed) + 64 * static_cast<std::uint64_t>(item.index) + static_cast<std::uint64_t>(stage));
}

// In this order, also where only the bytes are asked for.
Draw draw_size(const StageSpec& spec, const Item& item, Random& random) {
  Draw result;
  result.size = spec.size.is_zero() ? item.size : spec.size.draw(random);
  result.bytes = static_cast<std::int64_t>(spec.result_bytes * result.size);
  result.results = static_cast<std::int64_t>(spec.fan_out.draw(random) + 0.5);
  return result;
}

}  // namespace

Draw draw(const StageSpec& spec, int stage, const Item& item, std::uint64_t seed) {
  Random random = random_of(stage, item, seed);
  Draw result = draw_size(spec, item, random);
  const double longer = spec.time_follows_size ? result.size : 1;
  result.blocked_ns = longer * spec.blocked.draw(random);
  result.cpu_ns = longer * spec.cpu.draw(random);
  for (int i = 0; i < spec.own_threads; ++i) result.own_ns.push_back(spec.own_cpu.draw(random));
  return result;
}

std::int64_t draw_bytes(const StageSpec& spec, int stage, const Item& item, std::uint64_t seed) {
  Random random = random_of(stage, item, seed);
  const Draw result = draw_size(spec, item, random);
  return result.bytes * result.results;
}

void World::made(int stage, std::int64_t bytes) {
  auto& largest = largest_[static_cast<std::size_t>(stage)];
  for (std::int64_t seen = largest; seen < bytes && !largest.compare_exchange_weak(seen, bytes);) {
  }
}

std::int64_t World::one_element_of_each_stage() const {
  return std::accumulate(largest_.begin(), largest_.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& each) { return sum + each.load(); });
}

CallScope::CallScope(World& world, const StageSpec& spec)
    : world_(world), counts_(!spec.serial), waits_(counts_ && spec.form == StageSpec::Form::blocks) {
  if (counts_) world_.calls.enter();
  if (waits_) world_.waiting_calls.enter();
}

CallScope::~CallScope() {
  if (counts_) world_.calls.leave();
  if (waits_) world_.waiting_calls.leave();
}

}  // namespace penstock::exam
