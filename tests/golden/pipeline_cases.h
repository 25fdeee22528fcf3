// Files of pipelines: their outputs, orders and cardinalities.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tests/golden/report.h"

namespace golden {

// Throws Mismatch where output or cardinality are not those of the case, Unsupported as build_pipeline() does.
void check_pipeline(const nlohmann::json& a_case, const Settings& settings);

}  // namespace golden
