#include "tests/exam/pipeline.h"

#include <penstock/penstock.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace penstock::exam {
namespace {

constexpr std::int64_t kMostResults = 1 << 20;  // of one element: what tells results of neighbours apart

// The function of one stage.
class StageWork {
 public:
  StageWork(const StageSpec& spec, int stage, std::shared_ptr<World> world)
      : spec_(spec), stage_(stage), world_(std::move(world)) {}

  Item one(const Item& item) const {
    const Draw work = call(item);
    return result(item.index, work);
  }
  std::vector<Item> several(const Item& item) const {
    const Draw work = call(item);
    std::vector<Item> results;
    for (std::int64_t i = 0; i < work.results; ++i) results.push_back(result(item.index * kMostResults + i, work));
    return results;
  }
  std::int64_t bytes(const Item& item) const { return draw_bytes(spec_, stage_, item, world_->seed()); }

 private:
  Draw call(const Item& item) const {
    const CallScope scope(*world_, spec_);
    const Draw work = draw(spec_, stage_, item, world_->seed());
    wait(work);
    if (!work.own_ns.empty()) world_->compute_on_threads(work.own_ns);
    world_->compute(work.cpu_ns * spec_.cpu_times.at(world_->now(), 1) + world_->cost_of_element());
    world_->made(stage_, work.results * work.bytes);
    return work;
  }
  void wait(const Draw& work) const {
    if (work.blocked_ns <= 0) return;
    const double ns = work.blocked_ns * spec_.blocked_times.at(world_->now(), 1);
    if (spec_.device < 0) return world_->sleep(ns);
    world_->use_device(spec_.device, ns, ns / spec_.blocked.mean);
  }
  Item result(std::int64_t index, const Draw& work) const {
    return {index, work.size, work.bytes, world_->allocate(work.bytes)};
  }

  const StageSpec spec_;
  const int stage_;
  const std::shared_ptr<World> world_;
};

MapOptions map_options_of(const StageSpec& spec, const StageWork& work) {
  MapOptions options;
  options.order = spec.ordered ? Order::kept : Order::arbitrary;
  if (spec.form != StageSpec::Form::unknown) options.blocks = spec.form == StageSpec::Form::blocks;
  if (spec.size_is_known)
    options.bytes_hint = [work](const Item& item) { return static_cast<std::size_t>(work.bytes(item)); };
  return options;
}

// Endless, for all that a run lasts.
struct Numbers {
  std::shared_ptr<World> world;
  std::int64_t size() const { return std::numeric_limits<std::int64_t>::max() / 4; }
  Item at(std::int64_t index) const {
    world->compute(world->cost_of_element());
    return {index, 1, 0, {}};
  }
};

Dataset<Item> with_stage(const Dataset<Item>& chain, const StageSpec& spec, int stage,
                         const std::shared_ptr<World>& world) {
  const StageWork work(spec, stage, world);
  const Tunable calls = spec.serial ? Tunable(1) : AUTOTUNE;
  if (spec.fan_out.kind == Distribution::Kind::constant && spec.fan_out.mean == 1) {
    return chain.map([work](const Item& item) { return work.one(item); }, calls, map_options_of(spec, work));
  }
  return chain.flat_map([work](const Item& item) { return work.several(item); }, calls, map_options_of(spec, work));
}

// What a nest opens for an element: a generator.
class Opened {
 public:
  Opened(std::shared_ptr<const StageWork> work, Item element, std::int64_t count)
      : work_(std::move(work)), element_(std::move(element)), count_(count) {}
  std::optional<Item> operator()() {
    if (given_ == count_) return std::nullopt;
    return work_->one({element_.index * kMostResults + given_++, element_.size, 0, {}});
  }

 private:
  std::shared_ptr<const StageWork> work_;
  Item element_;
  std::int64_t count_, given_ = 0;
};

Dataset<Item> with_nest(const Dataset<Item>& chain, const StageSpec& spec, int stage,
                        const std::shared_ptr<World>& world) {
  StageSpec element = spec;
  element.fan_out = Distribution::constant(1);
  const auto work = std::make_shared<const StageWork>(element, stage, world);
  const auto open = [work, spec, stage, world](const Item& item) {
    world->compute(world->cost_of_element());
    return Opened(work, item, draw(spec, stage, item, world->seed()).results);
  };
  InterleaveOptions options;
  options.cycle_length = spec.cycle_length;
  options.order = spec.ordered ? Order::kept : Order::arbitrary;
  if (spec.form != StageSpec::Form::unknown) options.blocks = spec.form == StageSpec::Form::blocks;
  return chain.interleave(open, options);
}

using Branches = std::vector<Dataset<Item>>;

Dataset<Item> zipped(const Branches& two) { return zip<Item>(two.front(), two.back()); }

auto sampled(const std::vector<double>& shares) {
  return [shares](const Branches& branches) { return sample_from(branches, {.weights = shares, .seed = 1}); };
}

// The last branches become one.
template <class Merge> void put_together(Branches& branches, std::size_t count, const Merge& merge) {
  const auto first = branches.end() - static_cast<std::ptrdiff_t>(count);
  Dataset<Item> merged = merge(Branches(first, branches.end()));
  branches.erase(first, branches.end());
  branches.push_back(std::move(merged));
}

}  // namespace

graph::NodeRef pipeline_of(const ChainSpec& spec, const std::shared_ptr<World>& world) {
  Branches branches{from_indexed(Numbers{world}, "numbers")};
  int stage = 0;
  for (const StageSpec& each : spec.stages) {
    ++stage;
    switch (each.role) {
      case StageSpec::Role::source: branches.push_back(from_indexed(Numbers{world}, "numbers")); break;
      case StageSpec::Role::zip: put_together(branches, inputs_of(each), zipped); break;
      case StageSpec::Role::sample: put_together(branches, inputs_of(each), sampled(each.shares)); break;
      case StageSpec::Role::nest: branches.back() = with_nest(branches.back(), each, stage, world); break;
      case StageSpec::Role::calls:
        if (each.batch > 1) return branches.back().batch(each.batch).node();  // always the last one
        branches.back() = with_stage(branches.back(), each, stage, world);
    }
  }
  return branches.back().node();
}

RunOptions run_options_of(const ChainSpec& spec) {
  RunOptions options;
  options.memory_bytes = static_cast<std::size_t>(spec.memory);
  options.open_io = static_cast<int>(spec.open_io);
  options.epochs = 1;
  return options;
}

}  // namespace penstock::exam
