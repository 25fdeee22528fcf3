// From the description of a pipeline in a golden file to a dataset, through the public API.
#pragma once

#include <penstock/penstock.h>

#include <nlohmann/json_fwd.hpp>

#include "tests/golden/report.h"
#include "tests/golden/row.h"

namespace golden {

// What reads a pipeline's output may ask for orders that TensorFlow's generator made, or only for counts.
enum class ShuffleUse {
  exact_order,  // a shuffle makes the case Unsupported: its order is not TensorFlow's
  any_order,
};

// `ops` as described in the README of the golden files, section Pipelines. Throws Unsupported for
// an op that is not built yet, nlohmann's exceptions for a missing or mistyped parameter,
// GraphError for wrong ones.
penstock::Dataset<Row> build_pipeline(const nlohmann::json& ops, ShuffleUse shuffles);

// A row as the golden files write it: a list of its components, each a number or nested lists.
nlohmann::json to_json(const Row& row);

}  // namespace golden
