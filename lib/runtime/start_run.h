// A run with a controller of one's own: for the scorecard and for tests. Users have Dataset::start().
#pragma once

#include <functional>
#include <memory>

#include <penstock/run.h>

#include "autotune/policy.h"
#include "lib/exec/save_point.h"

namespace penstock::runtime {

using PolicyMaker = std::function<std::unique_ptr<autotune::Policy>()>;

// `make_policy` is called once, by the run's first request, unless the run is serial or RunOptions::tune is false. Null
// of it: nothing moves knobs. `save_spacing`: how often it gives save points, where it does.
//
//   Run<Batch> run(runtime::start_run(dataset.node(), {}, [] { return autotune::make_policy("static:8"); }));
std::shared_ptr<detail::RunCore> start_run(const graph::NodeRef& node, const RunOptions& options,
                                           PolicyMaker make_policy, const exec::SaveSpacing& save_spacing = {});

}  // namespace penstock::runtime
