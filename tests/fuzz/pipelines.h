// Small pipelines of every kind that a checkpoint can be of, for the target `checkpoint` and its seeds.
#pragma once

#include <penstock/penstock.h>

#include <vector>

namespace penstock::fuzz {

struct Pipeline {
  Dataset<std::vector<std::int64_t>> data;
  bool is_endless = false;
};

const std::vector<Pipeline>& pipelines();

}  // namespace penstock::fuzz
