// From the description of a pipeline in a golden file to a dataset, through the public API.
#pragma once

#include <penstock/penstock.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "tests/golden/report.h"
#include "tests/golden/row.h"

namespace golden {

// `ops` as described in the README of the golden files, section Pipelines. Throws Unsupported for
// an op that is not built yet, nlohmann's exceptions for a missing or mistyped parameter,
// GraphError for wrong ones. Shuffles have TensorFlow's order; `global_seed`: that of tf.random.set_seed().
penstock::Dataset<Row> build_pipeline(const nlohmann::json& ops,
                                      std::optional<std::uint64_t> global_seed = std::nullopt);

// A row as the golden files write it: a list of its components, each a number or nested lists.
nlohmann::json to_json(const Row& row);

}  // namespace golden
