#include "bench/scorecard/real/pipeline.h"

#include <penstock/penstock.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "bench/scorecard/real/pictures.h"

namespace penstock::scorecard {
namespace {

// The function of one stage.
class StageWork {
 public:
  StageWork(const StageSpec& spec, int stage, std::shared_ptr<RealWorld> world)
      : spec_(spec), stage_(stage), world_(std::move(world)) {}

  Item operator()(const Item& item) const {
    const CallScope scope(*world_, spec_);
    const Draw work = draw(spec_, stage_, item.index, item.size);
    wait(work);
    burn_cpu(work.cpu_ns * spec_.cpu_times.at(world_->now(), 1));
    world_->made(stage_, work.bytes);
    return {item.index, work.size, Tensor(DType::u8, {work.bytes})};
  }

 private:
  void wait(const Draw& work) const {
    if (work.blocked_ns <= 0) return;
    const double ns = work.blocked_ns * spec_.blocked_times.at(world_->now(), 1);
    if (spec_.device < 0) return sleep_ns(ns);
    world_->device(spec_.device).serve(ns, ns / spec_.blocked.mean);
  }

  const StageSpec spec_;
  const int stage_;
  const std::shared_ptr<RealWorld> world_;
};

MapOptions map_options_of(const StageSpec& spec, int stage) {
  MapOptions options;
  options.order = spec.ordered ? Order::kept : Order::arbitrary;
  if (spec.form != StageSpec::Form::unknown) options.blocks = spec.form == StageSpec::Form::blocks;
  if (spec.size_is_known) {
    options.bytes_hint = [spec, stage](const Item& item) {
      return static_cast<std::size_t>(draw(spec, stage, item.index, item.size).bytes);
    };
  }
  return options;
}

Dataset<Item> source() {
  return from_generator(
      [index = std::int64_t{0}]() mutable { return std::optional<Item>(Item{.index = index++, .size = 1, .payload = {}}); });
}

std::string not_in_real_mode(const StageSpec& stage) {
  if (stage.is_source || !stage.inputs.empty()) return "it has a branch";
  if (stage.batch != 1) return "it has batches";
  if (stage.fan_out.kind != Distribution::Kind::constant || stage.fan_out.mean != 1)
    return "a stage gives several results for one element";
  if (stage.own_threads > 0) return "a function has threads of its own";
  return {};
}

std::string not_in_real_mode(const ChainSpec& chain) {
  const auto varies = [](const StageSpec& stage) { return !stage.size.is_zero(); };
  if (chain.pictures && std::ranges::any_of(chain.stages, varies)) return "there are no pictures of such sizes";
  for (const StageSpec& stage : chain.stages) {
    if (std::string reason = not_in_real_mode(stage); !reason.empty()) return reason;
  }
  return {};
}

}  // namespace

std::string not_in_real_mode(const Scenario& scenario) {
  const PlantSpec& plant = scenario.plant;
  if (plant.chains.size() != 1) return "it has several runs";
  if (!plant.host.quota.steps.empty()) return "it needs a quota of CPU time";
  if (!plant.host.foreign.steps.empty()) return "it needs a busy process beside it";
  return not_in_real_mode(plant.chains.front());
}

graph::NodeRef pipeline_of(const ChainSpec& spec, const std::shared_ptr<RealWorld>& world, const std::string& pictures) {
  if (const std::string reason = not_in_real_mode(spec); !reason.empty()) throw std::invalid_argument("pipeline_of: " + reason);
  if (spec.pictures) return picture_pipeline(spec, world, pictures);
  Dataset<Item> chain = source();
  int stage = 0;
  for (const StageSpec& each : spec.stages) {
    ++stage;
    chain = chain.map(StageWork(each, stage, world), each.serial ? Tunable(1) : AUTOTUNE, map_options_of(each, stage));
  }
  return chain.node();
}

RunOptions run_options_of(const ChainSpec& spec) {
  RunOptions options;
  options.memory_bytes = static_cast<std::size_t>(spec.memory);
  options.open_io = static_cast<int>(spec.open_io);
  options.epochs = 1;
  return options;
}

}  // namespace penstock::scorecard
