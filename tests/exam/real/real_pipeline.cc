#include "tests/exam/real/real_pipeline.h"

#include <algorithm>
#include <stdexcept>

#include "tests/exam/real/pictures.h"

namespace penstock::exam {
namespace {

std::string not_in_real_mode(const StageSpec& stage) {
  if (stage.batch != 1) return "it has batches";
  if (!is_nest(stage) && (stage.fan_out.kind != Distribution::Kind::constant || stage.fan_out.mean != 1))
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
  const ProcessSpec& process = scenario.process;
  if (process.chains.size() != 1) return "it has several runs";
  if (!process.host.quota.steps.empty()) return "it needs a quota of CPU time";
  if (!process.host.foreign.steps.empty()) return "it needs a busy process beside it";
  return not_in_real_mode(process.chains.front());
}

graph::NodeRef real_pipeline_of(const ChainSpec& spec, const std::shared_ptr<RealWorld>& world,
                                const std::string& pictures) {
  if (const std::string reason = not_in_real_mode(spec); !reason.empty())
    throw std::invalid_argument("real_pipeline_of: " + reason);
  return spec.pictures ? picture_pipeline(spec, world, pictures) : pipeline_of(spec, world);
}

}  // namespace penstock::exam
